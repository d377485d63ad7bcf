/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws the charts of a report from the JSON below each of them, and rounds the numbers in its text. Tests read attributes
 * of the body: data-charts, the number of charts; data-charts-drawn, the number of drawn charts; data-trouble, the failure
 * of a script.
 */
(function () {
  'use strict';

  // ---- Failures are shown ----

  function trouble(text) {
    var place = document.getElementById('trouble');
    document.body.setAttribute('data-trouble', text);
    place.hidden = false;
    place.textContent = 'The browser could not draw every chart (' + text + '). The figures are also in the table below each chart.';
  }
  window.addEventListener('error', function (event) { trouble(event.message); });

  // ---- Numbers for people ----

  function digits(v, n) { // n significant digits, no trailing zeros
    var text = Number(v.toPrecision(n));
    return Math.abs(text) >= 1e6 || (text !== 0 && Math.abs(text) < 1e-4) ? text.toExponential() : String(text);
  }
  function grouped(v) {
    return String(v).replace(/\B(?=(\d{3})+$)/g, '\u202f');
  }
  function scaled(v, base, names) {
    var i = 0;
    var size = Math.abs(v);
    while (i + 1 < names.length && Number((size / Math.pow(base, i)).toPrecision(3)) >= base) { i++; }
    return digits(v / Math.pow(base, i), 3) + '\u00a0' + names[i];
  }
  var show = {
    plain: function (v) { return digits(v, 4); },
    count: function (v) { return Number.isInteger(v) ? grouped(v) : digits(v, 4); },
    bytes: function (v) {
      var names = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
      for (var i = names.length - 1; i > 0; i--) { // people choose multiples of powers of 1024: show these exactly
        var power = Math.pow(1024, i);
        if (v >= power && v % power === 0 && v / power < 10000) { return grouped(v / power) + '\u00a0' + names[i]; }
      }
      return scaled(v, 1024, names);
    },
    rate: function (v) { return scaled(v, 1000, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s']); },
    seconds: function (v) {
      var size = Math.abs(v);
      if (size === 0) { return '0\u00a0s'; }
      if (size < 9.995e-7) { return digits(v * 1e9, 3) + '\u00a0ns'; }
      if (size < 9.995e-4) { return digits(v * 1e6, 3) + '\u00a0\u00b5s'; }
      if (size < 0.9995) { return digits(v * 1e3, 3) + '\u00a0ms'; }
      return digits(v, size < 100 ? 3 : 5) + '\u00a0s';
    },
    share: function (v) { return digits(v * 100, 3) + '\u00a0%'; }
  };
  // On an axis, neighbouring labels must differ: use more digits if they do not.
  function showTick(unit, v, step) {
    var texts = [show[unit](v), show[unit](v + step)];
    if (texts[0] !== texts[1] || unit === 'bytes') { return texts[0]; }
    return digits(v, 8) + (unit === 'seconds' ? '\u00a0s' : '');
  }
  var unitOfExact = { bytes: ' B', rate: ' B/s', seconds: ' s' };
  var exact = false;
  var written = Array.prototype.map.call(document.querySelectorAll('data'), function (element) {
    element.title = element.value + (unitOfExact[element.className] || '');
    return { element: element, rounded: show[element.className](Number(element.value)), exact: element.title };
  });
  function writeNumbers() {
    written.forEach(function (number) { number.element.textContent = exact ? number.exact : number.rounded; });
  }
  writeNumbers();

  // ---- Colours ----

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  }
  function faint(hex, share) {
    return hex + ('0' + Math.round(share * 255).toString(16)).slice(-2);
  }
  var ramp = ['#440154', '#482475', '#414487', '#355f8d', '#2a788e', '#21918c', '#22a884', '#44bf70', '#7ad151',
    '#bddf26', '#fde725'].map(function (hex) {
    return [1, 3, 5].map(function (i) { return parseInt(hex.slice(i, i + 2), 16); });
  });
  var COLOURS = 256; // number of colours between the ends of the ramp
  var between = [];
  for (var c = 0; c < COLOURS; c++) {
    var place = c / (COLOURS - 1) * (ramp.length - 1);
    var edge = Math.min(Math.floor(place), ramp.length - 2);
    between.push([0, 1, 2].map(function (k) { return Math.round(ramp[edge][k] + (place - edge) * (ramp[edge + 1][k] - ramp[edge][k])); }));
  }
  function onRamp(share) { return between[Math.round(Math.min(Math.max(share, 0), 1) * (COLOURS - 1))]; }
  var shapes = ['circle', 'rect', 'triangle', 'rectRot', 'star', 'crossRot', 'cross', 'rectRounded', 'dash', 'line'];
  function shapeOf(name) { return shapes[Number(name.slice(1)) % 8]; }
  // The sample of a curve for the legend: its line and its mark.
  function sampleOf(main, shape, dashed) {
    var canvas = document.createElement('canvas');
    canvas.width = 34;
    canvas.height = 12;
    var ctx = canvas.getContext('2d');
    ctx.strokeStyle = ctx.fillStyle = main;
    ctx.lineWidth = 2;
    ctx.setLineDash(dashed ? [5, 4] : []);
    ctx.beginPath();
    ctx.moveTo(0, 6);
    ctx.lineTo(34, 6);
    ctx.stroke();
    ctx.setLineDash([]);
    Chart.helpers.drawPoint(ctx, { pointStyle: shape, radius: 5, rotation: 0, borderWidth: 1.5 }, 17, 6);
    return canvas;
  }

  // ---- Plugins ----

  var whiskers = {
    id: 'whiskers',
    afterDatasetsDraw: function (chart) {
      var ctx = chart.ctx;
      chart.data.datasets.forEach(function (set, k) {
        var scale = chart.options.indexAxis === 'y' ? chart.scales.x : chart.scales.y;
        if (!set.intervals || !chart.isDatasetVisible(k)) { return; }
        ctx.save();
        ctx.strokeStyle = set.whisker;
        ctx.lineWidth = 1.25;
        chart.getDatasetMeta(k).data.forEach(function (element, i) {
          var interval = set.intervals[i];
          if (!interval || element.skip) { return; }
          var a = scale.getPixelForValue(interval[0]);
          var b = scale.getPixelForValue(interval[1]);
          ctx.beginPath();
          if (scale.axis === 'x') {
            ctx.moveTo(a, element.y); ctx.lineTo(b, element.y);
            [a, b].forEach(function (x) { ctx.moveTo(x, element.y - 4); ctx.lineTo(x, element.y + 4); });
          } else {
            ctx.moveTo(element.x, a); ctx.lineTo(element.x, b);
            [a, b].forEach(function (y) { ctx.moveTo(element.x - 4, y); ctx.lineTo(element.x + 4, y); });
          }
          ctx.stroke();
        });
        ctx.restore();
      });
    }
  };

  // Returns how much a text in this box would cover: 1 for each part of a line, 100 for each point, which needs 8 pixels
  // around its middle.
  function covered(chart, box) {
    var cost = 0;
    function look(x, y, space, weight) {
      if (x > box.left - space && x < box.right + space && y > box.top - space && y < box.bottom + space) { cost += weight; }
    }
    chart.data.datasets.forEach(function (set, k) {
      var last = null;
      (chart.isDatasetVisible(k) ? chart.getDatasetMeta(k).data : []).forEach(function (element, i) {
        var interval = set.intervals && set.intervals[i];
        if (element.skip) { last = null; return; }
        for (var part = 0; part < 1; part += 1 / 32) {
          if (last && set.showLine) {
            look(last.x + part * (element.x - last.x), last.y + part * (element.y - last.y), 1, 1);
          }
          if (interval) {
            look(element.x, chart.scales.y.getPixelForValue(interval[0] + part * (interval[1] - interval[0])), 1, 1);
          }
        }
        look(element.x, element.y, 8, 100);
        last = element;
      });
    });
    return cost;
  }

  // Returns the place for a text of this width at which it covers least; of several, the first. A place is the left end
  // of the text's base line.
  function clearest(chart, width, places) {
    var area = chart.chartArea;
    var best = null;
    places.forEach(function (place) {
      var box = { left: place.x, right: place.x + width, top: place.y - 10, bottom: place.y + 3 };
      var inside = box.left >= area.left && box.right <= area.right && box.top >= area.top && box.bottom <= area.bottom;
      place.cost = covered(chart, box) + (inside ? 0 : 100000);
      if (!best || place.cost < best.cost) { best = place; }
    });
    return best;
  }

  var marks = {
    id: 'marks',
    beforeDatasetsDraw: function (chart) {
      var area = chart.chartArea;
      var ctx = chart.ctx;
      (chart.config.options.marks || []).forEach(function (mark) {
        var scale = mark.vertical ? chart.scales.x : chart.scales.y;
        var at = scale.getPixelForValue(mark.at);
        ctx.save();
        ctx.strokeStyle = ctx.fillStyle = colour('soft');
        ctx.setLineDash([2, 3]);
        ctx.font = Chart.defaults.font.size + 'px ' + Chart.defaults.font.family;
        ctx.beginPath();
        var width = ctx.measureText(mark.label).width;
        var places = [];
        if (mark.vertical) {
          ctx.moveTo(at, area.top); ctx.lineTo(at, area.bottom);
          for (var y = area.top + 12; y < area.bottom - 3; y += 4) {
            places.push({ x: at + 6, y: y }, { x: at - 6 - width, y: y });
          }
        } else {
          ctx.moveTo(area.left, at); ctx.lineTo(area.right, at);
          for (var x = area.right - 4 - width; x > area.left; x -= 8) {
            places.push({ x: x, y: at - 5 }, { x: x, y: at + 13 }, { x: x, y: at - 14 }, { x: x, y: at + 22 });
          }
        }
        var place = clearest(chart, width, places);
        ctx.textAlign = 'left';
        if (place) { ctx.fillText(mark.label, place.x, place.y); } // a chart smaller than the text has no place
        ctx.stroke();
        ctx.restore();
      });
    }
  };

  // Space between a legend and the chart below it.
  var air = {
    id: 'air',
    beforeInit: function (chart) {
      var fit = chart.legend.fit;
      chart.legend.fit = function () {
        fit.call(this);
        if (this.options.display) { this.height += 10; }
      };
    }
  };

  // A chart counts as drawn when some of its data are inside its area.
  var witness = {
    id: 'witness',
    afterDraw: function (chart) {
      var area = chart.chartArea;
      var inside = chart.config.options.image !== undefined && area.width > 0 && area.height > 0;
      chart.data.datasets.forEach(function (set, k) {
        chart.getDatasetMeta(k).data.forEach(function (e) {
          inside = inside || (!e.skip && e.x >= area.left - 1 && e.x <= area.right + 1 && e.y >= area.top - 1 &&
            e.y <= area.bottom + 1);
        });
      });
      if (inside) { chart.canvas.setAttribute('data-drawn', 'yes'); }
    }
  };

  // ---- Axes ----

  // Returns the labels of a logarithmic axis: 1, 2, 5 times powers of ten, or for sizes, powers of two.
  function powersBetween(low, high, bytes) {
    var out = [];
    var base = bytes ? 2 : 10;
    var spread = Math.log(high / low) / Math.log(base);
    for (var i = Math.floor(Math.log(low) / Math.log(base)) - 1; out.length < 200; i++) {
      var power = Math.pow(base, i);
      if (power > high * 1.0001) { break; }
      (bytes || spread > 3 ? [1] : [1, 2, 5]).forEach(function (f) {
        var v = f * power;
        if (v >= low * 0.9999 && v <= high * 1.0001) { out.push(v); }
      });
    }
    return out;
  }
  function title(text) {
    return { display: true, text: text, color: colour('ink'), font: { size: Chart.defaults.font.size + 1 } };
  }
  function axisOf(axis, low, high, more) {
    var options = {
      type: axis.log ? 'logarithmic' : 'linear',
      title: title(axis.label),
      grid: { color: colour('line'), borderColor: colour('soft') },
      ticks: {
        color: colour('soft'), maxRotation: 0, autoSkipPadding: 12,
        callback: function (v, i, all) {
          var step = all.length > 1 ? Math.abs(all[1].value - all[0].value) : 1;
          return axis.log ? show[axis.unit](v) : showTick(axis.unit, v, step);
        }
      }
    };
    if (axis.log) {
      options.min = low;
      options.max = high;
      options.afterBuildTicks = function (scale) {
        scale.ticks = (axis.ticks || powersBetween(scale.min, scale.max, axis.unit === 'bytes'))
          .filter(function (v) { return v >= scale.min && v <= scale.max; })
          .map(function (v) { return { value: v }; });
      };
    } else if (axis.unit === 'bytes') { // round sizes
      var step = Math.pow(2, Math.max(0, Math.round(Math.log2(Math.max(high, 1) / 8))));
      options.ticks.stepSize = step;
    } else if (axis.unit === 'count') {
      options.ticks.precision = 0;
    }
    return Object.assign(options, more || {});
  }
  // A size as a multiple of another one.
  function multiple(v) {
    return v >= 1 || v <= 0 ? digits(v, 5) + '\u00d7' : '1/' + digits(1 / v, 5);
  }

  function common() {
    return {
      animation: false, responsive: true, maintainAspectRatio: false, normalized: true,
      layout: { padding: { top: 10, right: 12 } },
      plugins: {
        legend: { position: 'top', align: 'start', labels: { usePointStyle: true, boxHeight: 8, color: colour('ink'),
          padding: 14 } },
        tooltip: { animation: false }
      }
    };
  }

  // ---- Kinds of charts ----

  function rangeOf(spec, axis) {
    var low = Infinity;
    var high = -Infinity;
    function take(v) {
      if (v !== null && v !== undefined && !(spec[axis].log && v <= 0)) {
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
    }
    spec.series.forEach(function (series) {
      series.points.forEach(function (p) {
        take(p[axis]);
        if (axis === 'y') { take(p.low); take(p.high); }
      });
    });
    (spec.marks || []).forEach(function (mark) {
      if (mark.vertical === (axis === 'x')) { take(mark.at); }
    });
    if (low > high) { low = 1; high = 10; }
    return spec[axis].log ? [low / 1.3, high * 1.3] : [low, high];
  }

  var kinds = {};

  kinds.xy = function (spec) {
    var x = rangeOf(spec, 'x');
    var y = rangeOf(spec, 'y');
    var options = common();
    options.marks = spec.marks;
    options.interaction = { mode: 'nearest', intersect: false };
    options.plugins.legend.display = spec.series.length > 1;
    options.plugins.legend.labels.generateLabels = function (chart) {
      return Chart.defaults.plugins.legend.labels.generateLabels(chart).map(function (item) {
        var series = spec.series[item.datasetIndex];
        if (series.line) { item.pointStyle = sampleOf(colour(series.colour), shapeOf(series.colour), series.dashed); }
        return item;
      });
    };
    if (spec.series.some(function (series) { return series.line; })) { options.plugins.legend.labels.pointStyleWidth = 34; }
    options.scales = { x: axisOf(spec.x, x[0], x[1]), y: axisOf(spec.y, y[0], y[1], { beginAtZero: true }) };
    if (!spec.x.log && x[1] > x[0]) {
      options.scales.x.min = x[0] - 0.02 * (x[1] - x[0]);
      options.scales.x.max = x[1] + 0.02 * (x[1] - x[0]);
      options.scales.x.ticks.includeBounds = false;
    }
    if (spec.y.unit === 'share' && y[1] <= 1) {
      options.scales.y.max = 1; // a share is at most 1
    } else if (!spec.y.log) {
      options.scales.y.suggestedMax = y[1] * 1.04;
    }
    if (spec.x.divide) {
      options.scales.relative = axisOf({ label: spec.x.divided, unit: spec.x.unit, log: spec.x.log,
        ticks: spec.x.ticks }, x[0], x[1], { axis: 'x', position: 'top' });
      options.scales.relative.grid.drawOnChartArea = false;
      options.scales.relative.ticks.callback = function (v) { return multiple(v / spec.x.divide); };
    }
    options.plugins.tooltip.callbacks = {
      title: function (items) { return items.length ? show[spec.x.unit](items[0].parsed.x) : ''; },
      label: function (item) {
        var p = item.raw;
        var lines = [item.dataset.label + ': ' + show[spec.y.unit](p.y) + (p.low === undefined ? '' :
          ' (' + show[spec.y.unit](p.low) + ' to ' + show[spec.y.unit](p.high) + ')')];
        return p.note ? lines.concat(p.note) : lines;
      }
    };
    return {
      type: 'scatter',
      options: options,
      plugins: [air, whiskers, marks, witness],
      data: { datasets: spec.series.map(function (series, k) {
        var main = colour(series.colour);
        return {
          label: series.name, data: series.points, parsing: false, showLine: series.line, spanGaps: false,
          borderColor: main, backgroundColor: main, borderWidth: 2, borderDash: series.dashed ? [6, 4] : [],
          pointStyle: shapeOf(series.colour), pointHoverRadius: 8,
          // The points of a lower curve are larger, so that they stay visible below the points of other curves.
          pointRadius: !series.line ? 3.5 : series.points.length > 100 ? 0 : 4 + 0.7 * k,
          pointBorderWidth: 1.5,
          pointBackgroundColor: series.points.map(function (p) { return p.doubtful ? colour('paper') : main; }),
          whisker: faint(main, 0.75),
          intervals: series.points.map(function (p) { return p.low === undefined ? null : [p.low, p.high]; })
        };
      }) }
    };
  };

  kinds.bars = function (spec) {
    var stacked = spec.bars.some(function (bar) { return bar.stack !== undefined; });
    var options = common();
    var high = 0;
    spec.bars.forEach(function (bar) {
      bar.values.concat(bar.high || []).forEach(function (v) { high = Math.max(high, v || 0); });
    });
    options.indexAxis = 'y';
    options.interaction = { mode: 'nearest', axis: 'y', intersect: true };
    options.scales = {
      x: axisOf({ label: spec.label, unit: spec.unit, log: false }, 0, high, { beginAtZero: true, stacked: stacked,
        suggestedMax: stacked ? undefined : high }),
      y: { stacked: stacked, grid: { display: false, borderColor: colour('soft') },
        ticks: { color: colour('ink'), autoSkip: false } }
    };
    options.plugins.legend.display = spec.bars.length > 1;
    options.plugins.legend.labels.usePointStyle = false;
    options.plugins.legend.labels.filter = function (item, data) { return !data.datasets[item.datasetIndex].faint; };
    options.plugins.legend.onClick = null;
    options.plugins.tooltip.callbacks = {
      label: function (item) {
        var bar = spec.bars[item.datasetIndex];
        var i = item.dataIndex;
        return bar.name + (bar.stack ? ', ' + bar.stack : '') + ': ' + show[spec.unit](bar.values[i]) +
          (bar.low && bar.low[i] !== null ? ' (' + show[spec.unit](bar.low[i]) + ' to ' +
          show[spec.unit](bar.high[i]) + ')' : '') + (bar.doubtful[i] ? ', doubtful' : '');
      }
    };
    return {
      type: 'bar',
      options: options,
      plugins: [air, whiskers, witness],
      data: { labels: spec.categories, datasets: spec.bars.map(function (bar) {
        var main = colour(bar.colour);
        return {
          label: bar.name, data: bar.values, stack: bar.stack, faint: bar.faint, maxBarThickness: 22, skipNull: true,
          backgroundColor: bar.values.map(function (v, i) {
            return bar.doubtful[i] ? faint(main, 0.2) : bar.faint ? faint(main, 0.45) : main;
          }),
          borderColor: main, borderWidth: 1, whisker: colour('ink'),
          intervals: bar.low ? bar.values.map(function (v, i) {
            return bar.low[i] === null ? null : [bar.low[i], bar.high[i]];
          }) : null
        };
      }) }
    };
  };

  // ---- Colours of quantities ----

  var mode = 'quantiles'; // scale of the colours of all charts: quantiles, logarithmic or linear

  // Returns the function `share`, which maps a value to its position between the smallest and the largest value, from 0 to 1.
  // With quantiles, this is the share of smaller values, so that one outlier does not make all other values look the same.
  var PARTS = 256; // number of quantiles; the eye distinguishes fewer colours
  function scaleOf(values) {
    var sorted = Float64Array.from(values.filter(function (v) {
      return v !== null && !isNaN(v) && (mode !== 'logarithmic' || v > 0);
    })).sort();
    var least = sorted[0];
    var most = sorted[sorted.length - 1];
    var quantile = new Float64Array(PARTS + 1);
    for (var i = 0; i <= PARTS; i++) { quantile[i] = sorted[Math.round(i / PARTS * (sorted.length - 1))]; }
    function below(v, orEqual) {
      var low = 0;
      for (var high = PARTS + 1; low < high;) {
        var middle = (low + high) >> 1;
        if (quantile[middle] < v || (orEqual && quantile[middle] === v)) { low = middle + 1; } else { high = middle; }
      }
      return low;
    }
    function share(v) {
      if (most === least) { return 0.5; }
      if (mode === 'linear') { return (v - least) / (most - least); }
      if (mode === 'logarithmic') { return Math.log(v / least) / Math.log(most / least); }
      if (v <= least || v >= most) { return v <= least ? 0 : 1; }
      return (below(v, false) + below(v, true) - 1) / 2 / PARTS; // equal values get the middle of their quantiles
    }
    return { least: least, most: most, median: sorted[sorted.length >> 1], share: share };
  }
  // Draws the legend of a scale of colours.
  function rampInto(place, label, scale, text) {
    function say(words) {
      var span = document.createElement('span');
      span.textContent = words;
      place.appendChild(span);
      return span;
    }
    if (scale.least === undefined) {
      say(label + ': nothing');
      return;
    }
    say(label + ': ' + text(scale.least));
    var strip = say('');
    strip.className = 'ramp';
    strip.style.background = 'linear-gradient(to right,' + ramp.map(function (rgb) { return 'rgb(' + rgb + ')'; }) + ')';
    say(text(scale.most) + ' (' + mode + '), half of the cells below ' + text(scale.median));
  }

  // ---- Heat maps ----

  function imageOf(spec, scale) {
    var canvas = document.createElement('canvas');
    canvas.width = spec.width;
    canvas.height = spec.height;
    var ctx = canvas.getContext('2d');
    var image = ctx.createImageData(spec.width, spec.height);
    spec.cells.forEach(function (v, i) {
      if (v === null || (mode === 'logarithmic' && v <= 0)) { return; } // transparent
      var rgb = onRamp(scale.share(v));
      for (var k = 0; k < 3; k++) { image.data[4 * i + k] = rgb[k]; }
      image.data[4 * i + 3] = 255;
    });
    ctx.putImageData(image, 0, 0);
    return canvas;
  }
  var marking = '#d0006f';
  var heat = {
    id: 'heat',
    beforeDatasetsDraw: function (chart) {
      var o = chart.config.options;
      var spec = o.spec;
      var x = chart.scales.x;
      var y = chart.scales.y;
      var a = chart.chartArea;
      var left = x.getPixelForValue(spec.x.from);
      var right = x.getPixelForValue(spec.x.from + spec.x.cell * spec.width);
      var top = y.getPixelForValue(spec.y.from);
      var bottom = y.getPixelForValue(spec.y.from + spec.y.cell * spec.height);
      chart.ctx.save();
      chart.ctx.beginPath();
      chart.ctx.rect(a.left, a.top, a.width, a.height);
      chart.ctx.clip();
      chart.ctx.imageSmoothingEnabled = false;
      chart.ctx.drawImage(o.image, left, top, right - left, bottom - top);
      chart.ctx.restore();
    },
    // A mark must not hide its cells: it is a frame around them, or a bar at each end of whole rows and columns.
    afterDatasetsDraw: function (chart) {
      var ctx = chart.ctx;
      var a = chart.chartArea;
      ctx.save();
      chart.config.options.spec.areas.forEach(function (area) {
        var left = Math.max(chart.scales.x.getPixelForValue(area.left), a.left);
        var right = Math.min(chart.scales.x.getPixelForValue(area.right), a.right);
        var top = Math.max(chart.scales.y.getPixelForValue(area.top), a.top);
        var bottom = Math.min(chart.scales.y.getPixelForValue(area.bottom), a.bottom);
        if (right < a.left || left > a.right || bottom < a.top || top > a.bottom) { return; }
        var wide = right - left > 0.98 * a.width;
        var high = bottom - top > 0.98 * a.height;
        function bar(x, y, w, h) {
          ctx.fillStyle = marking;
          ctx.fillRect(x, y, w, h);
        }
        if (wide && !high) {
          var h = Math.max(bottom - top, 4);
          bar(a.right, (top + bottom - h) / 2, 9, h);
          bar(a.left - 7, (top + bottom - h) / 2, 7, h);
        } else if (high && !wide) {
          var w = Math.max(right - left, 4);
          bar((left + right - w) / 2, a.top - 9, w, 9);
          bar((left + right - w) / 2, a.bottom, w, 7);
        } else if (right - left < 6 || bottom - top < 6) { // too small for a frame: a stroke at the left of the area
          bar(left, (top + bottom) / 2 - 4, 2, 8);
        } else {
          [['#ffffff', 3], [marking, 1.5]].forEach(function (pen) {
            ctx.strokeStyle = pen[0];
            ctx.lineWidth = pen[1];
            ctx.strokeRect(left - 2, top - 2, right - left + 4, bottom - top + 4);
          });
        }
      });
      ctx.restore();
    },
    afterEvent: function (chart, args) {
      var o = chart.config.options;
      var a = chart.chartArea;
      var e = args.event;
      if (e.type === 'mouseout' || e.x < a.left || e.x >= a.right || e.y < a.top || e.y >= a.bottom) {
        o.tip.hidden = true;
        return;
      }
      sayCell(chart, Math.floor((chart.scales.x.getValueForPixel(e.x) - o.spec.x.from) / o.spec.x.cell),
        Math.floor((chart.scales.y.getValueForPixel(e.y) - o.spec.y.from) / o.spec.y.cell));
    }
  };
  function sayCell(chart, column, row) {
    var o = chart.config.options;
    var spec = o.spec;
    column = Math.max(0, Math.min(column, spec.width - 1));
    row = Math.max(0, Math.min(row, spec.height - 1));
    o.at = [column, row];
    var x = spec.x.from + (column + 0.5) * spec.x.cell;
    var y = spec.y.from + (row + 0.5) * spec.y.cell;
    var v = spec.cells[row * spec.width + column];
    var marked = spec.areas.filter(function (area) {
      return x >= area.left && x < area.right && y >= area.top && y < area.bottom;
    }).map(function (area) { return area.label; });
    o.tip.textContent = placeOf(spec.x, column) + ', ' + placeOf(spec.y, row) + ': ' +
      (v === null ? 'nothing' : show[spec.unit](v * spec.worth)) + (marked.length ? '; marked: ' + marked.join(', ') : '');
    o.tip.hidden = false;
    o.tip.style.top = (chart.scales.y.getPixelForValue(y) + 14) + 'px';
    o.tip.style.left = Math.max(0, Math.min(chart.scales.x.getPixelForValue(x) + 14, chart.chartArea.right - o.tip.offsetWidth)) + 'px';
  }
  var arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  function steerCells(canvas) {
    canvas.tabIndex = 0;
    canvas.addEventListener('keydown', function (event) {
      var step = arrows[event.key];
      var chart = Chart.getChart(canvas);
      if (!step) { return; }
      var at = chart.config.options.at || [-step[0], -step[1]];
      sayCell(chart, at[0] + step[0], at[1] + step[1]);
      event.preventDefault();
    });
  }
  function placeOf(side, i) {
    var low = side.from + i * side.cell;
    var high = Math.min(low + side.cell, side.to);
    if (!side.index) { return side.label + ' ' + show[side.unit](low); }
    var first = Math.ceil(low);
    var last = Math.ceil(high) - 1;
    return side.label + ' ' + grouped(first) + (last > first ? '\u2013' + grouped(last) : '');
  }
  function scaleBar(spec, scale, canvas) {
    var figure = canvas.parentNode.parentNode;
    var bar = figure.querySelector('.scale') || document.createElement('div');
    bar.className = 'scale';
    bar.textContent = '';
    rampInto(bar, spec.label, scale, function (v) { return show[spec.unit](v * spec.worth); });
    if (spec.areas.length) {
      bar.appendChild(document.createElement('span')).textContent = 'marked: ' +
        spec.areas.map(function (area) { return area.label; }).filter(function (label, i, all) {
          return all.indexOf(label) === i;
        }).join(', ');
    }
    figure.insertBefore(bar, canvas.parentNode);
  }
  kinds.heat = function (spec, canvas) {
    var scale = scaleOf(spec.cells);
    var options = common();
    options.spec = spec;
    options.image = imageOf(spec, scale);
    options.events = ['mousemove', 'mouseout', 'click', 'touchstart', 'touchmove'];
    options.scales = {
      x: axisOf({ label: spec.x.label, unit: spec.x.unit, log: false }, 0, spec.x.to, { min: spec.x.from, max: spec.x.to }),
      y: axisOf({ label: spec.y.label, unit: spec.y.unit, log: false }, 0, spec.y.to,
        { min: spec.y.from, max: spec.y.to, reverse: true })
    };
    ['x', 'y'].forEach(function (side) {
      options.scales[side].grid.display = false;
      options.scales[side].ticks.includeBounds = false;
      if (spec[side].index) { options.scales[side].ticks.precision = 0; }
    });
    options.plugins.legend.display = false;
    options.plugins.tooltip.enabled = false;
    scaleBar(spec, scale, canvas);
    if (!canvas.parentNode.querySelector('.tip')) {
      steerCells(canvas);
      var tip = document.createElement('div');
      tip.className = 'tip';
      tip.hidden = true;
      canvas.parentNode.appendChild(tip);
    }
    options.tip = canvas.parentNode.querySelector('.tip');
    return { type: 'scatter', options: options, plugins: [heat, witness], data: { datasets: [] } };
  };

  // ---- Tables ----

  function keyOf(row, column) {
    var cell = row.cells[column];
    var number = cell && cell.querySelector('data');
    return number ? Number(number.value) : cell ? cell.textContent : '';
  }
  function sortBy(table, header) {
    var down = header.getAttribute('aria-sort') === 'ascending';
    Array.prototype.forEach.call(header.parentNode.cells, function (th) { th.removeAttribute('aria-sort'); });
    header.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    Array.prototype.slice.call(table.rows, 1).sort(function (a, b) {
      var x = keyOf(a, header.cellIndex);
      var y = keyOf(b, header.cellIndex);
      if (typeof x !== typeof y) { return typeof x === 'number' ? -1 : 1; } // cells without a number come last
      var order = typeof x === 'number' ? x - y : x.localeCompare(y, 'en');
      return down ? -order : order;
    }).forEach(function (row) { row.parentNode.appendChild(row); });
  }
  document.querySelectorAll('th[scope="col"]').forEach(function (header) {
    var button = document.createElement('button');
    button.type = 'button';
    button.textContent = header.textContent;
    button.addEventListener('click', function () { sortBy(header.closest('table'), header); });
    header.textContent = '';
    header.appendChild(button);
  });
  // On small screens a row is a block, and each cell says its column.
  document.querySelectorAll('table').forEach(function (table) {
    var titles = Array.prototype.map.call(table.querySelectorAll('th[scope="col"]'), function (th) { return th.textContent; });
    table.classList.toggle('listed', titles.length > 0);
    Array.prototype.forEach.call(titles.length ? table.rows : [], function (row) {
      Array.prototype.forEach.call(row.cells, function (cell, i) { cell.setAttribute('data-title', titles[i]); });
    });
  });

  // ---- Charts as files ----

  function savePicture(figure) {
    var canvas = figure.querySelector('canvas');
    var title = figure.querySelector('figcaption strong').textContent;
    var picture = document.createElement('canvas');
    var ratio = canvas.width / canvas.clientWidth;
    var room = 32 * ratio;
    picture.width = canvas.width;
    picture.height = canvas.height + room;
    var ctx = picture.getContext('2d');
    ctx.fillStyle = colour('paper');
    ctx.fillRect(0, 0, picture.width, picture.height);
    ctx.fillStyle = colour('ink');
    ctx.font = 'bold ' + 15 * ratio + 'px ' + getComputedStyle(document.documentElement).fontFamily;
    ctx.fillText(title, 8 * ratio, 21 * ratio, picture.width - 16 * ratio);
    ctx.drawImage(canvas, 0, room);
    var link = document.createElement('a');
    link.href = picture.toDataURL('image/png');
    link.download = title.replace(/[^A-Za-z0-9]+/g, '-') + '.png';
    link.click();
  }

  // ---- All charts of the page ----

  var figures = Array.prototype.slice.call(document.querySelectorAll('figure'));
  var charts = [];
  var timelines = {};
  figures.forEach(function (figure) {
    var button = document.createElement('button');
    button.type = 'button';
    button.className = 'png';
    button.textContent = 'PNG';
    button.setAttribute('aria-label', 'Save as PNG: ' + figure.querySelector('strong').textContent);
    button.addEventListener('click', function () { savePicture(figure); });
    figure.insertBefore(button, figure.firstChild);
  });
  function drawOne(figure) {
    var canvas = figure.querySelector('canvas');
    try {
      var spec = timelines[figure.id] ? null : JSON.parse(figure.querySelector('script').textContent);
      if (spec && spec.kind === 'timeline') {
        timelines[figure.id] = hpcwTimeline({ show: show, showTick: showTick, grouped: grouped, colour: colour, onRamp: onRamp,
          scaleOf: scaleOf, ramp: rampInto, mode: function () { return mode; } }, figure, spec);
      }
      if (timelines[figure.id]) {
        timelines[figure.id].draw();
      } else {
        charts.push(new Chart(canvas, kinds[spec.kind](spec, canvas)));
      }
    } catch (problem) {
      trouble(figure.id + ': ' + problem.message);
    }
  }
  function countDrawn() {
    document.body.setAttribute('data-charts', figures.length);
    document.body.setAttribute('data-charts-drawn', document.querySelectorAll('canvas[data-drawn]').length);
  }
  // Draws the charts one by one, so that the page answers meanwhile. atOnce: draws all now, for a printer, which does not wait.
  var turns = 0;
  function drawAll(atOnce) {
    var turn = ++turns;
    charts.forEach(function (chart) { chart.destroy(); });
    charts = [];
    var letters = getComputedStyle(document.documentElement);
    Chart.defaults.font.family = letters.fontFamily;
    Chart.defaults.font.size = Math.max(9, 0.75 * parseFloat(letters.fontSize));
    function next(i) {
      if (turn !== turns) { return; } // a later drawAll draws the charts again
      if (i === figures.length) {
        countDrawn();
        return;
      }
      drawOne(figures[i]);
      if (atOnce === true) { next(i + 1); } else { setTimeout(next, 0, i + 1); }
    }
    next(0);
  }

  // ---- Switches for the whole page ----

  var switches = document.createElement('p');
  switches.className = 'controls';
  if (figures.some(function (figure) { return /"kind":"(heat|timeline)"/.test(figure.querySelector('script').textContent.slice(0, 40)); })) {
    var scales = document.createElement('select');
    ['quantiles', 'logarithmic', 'linear'].forEach(function (name) {
      scales.appendChild(document.createElement('option')).textContent = name;
    });
    scales.id = 'colour-scale';
    scales.addEventListener('change', function () {
      mode = scales.value;
      drawAll();
    });
    var scaleLabel = document.createElement('label');
    scaleLabel.textContent = 'Colour scales: ';
    scaleLabel.appendChild(scales);
    switches.appendChild(scaleLabel);
  }
  var digitsBox = document.createElement('input');
  digitsBox.type = 'checkbox';
  digitsBox.addEventListener('change', function () {
    exact = digitsBox.checked;
    writeNumbers();
  });
  var digitsLabel = document.createElement('label');
  digitsLabel.appendChild(digitsBox);
  digitsLabel.appendChild(document.createTextNode(' all digits'));
  switches.appendChild(digitsLabel);
  var section = document.querySelector('section');
  if (section) { section.parentNode.insertBefore(switches, section); }

  drawAll();

  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', function () { drawAll(); });
  // Paper is white, also when the screen is dark.
  window.addEventListener('beforeprint', function () {
    document.documentElement.classList.add('paper');
    drawAll(true);
  });
  window.addEventListener('afterprint', function () {
    document.documentElement.classList.remove('paper');
    drawAll();
  });
})();
