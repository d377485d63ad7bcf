/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chart of ui/page/timeline.h: what ranks did over time. It moves and zooms. Of the levels of detail, it draws the coarsest
 * one that has a cell for each pixel or two. If the page has script files with single events, it draws these in small windows.
 *
 * charts.js calls hpcwTimeline(page, figure, spec) once. `page` has functions of charts.js.
 */
function hpcwTimeline(page, figure, spec) {
  'use strict';

  var MOST_SCRIPTS = 24;   // most scripts of a window; more scripts take seconds to read
  var MOST_RANKS = 512;    // most ranks of a window with single events; a rank is then about a pixel high
  var MOST_MESSAGES = 2000; // most messages that are drawn; more would hide each other

  var canvas = figure.querySelector('canvas');
  var plot = canvas.parentNode;
  var texts = figure.querySelectorAll('script');
  var ctx = canvas.getContext('2d');
  var view = { from: spec.view.from, to: spec.view.to, top: 0, bottom: spec.ranks };
  var least = (spec.to - spec.from) * 1e-7; // shortest window, seconds
  var area = { left: 0, top: 0, width: 1, height: 1 }; // rectangle of the cells, in CSS pixels
  var layer = null; // element of spec.layers that is shown; null: states
  var selected = null; // marked place: rank, from, to
  var files = []; // events of each script file, by its number; null while the file loads
  var lost = ''; // message about a script that cannot be read

  // ---- Data ----

  // Decodes the states of cells, which pack() in timeline.c has encoded.
  function unpack(text, cells) {
    var bytes = atob(text);
    var out = new Uint8Array(cells);
    for (var i = 0, at = 0; i < bytes.length;) {
      var first = bytes.charCodeAt(i++);
      var run = 1 + (first & 15);
      if (run === 16) {
        for (var worth = 1, next = 128; next >= 128; worth *= 128) {
          next = bytes.charCodeAt(i++);
          run += (next & 127) * worth;
        }
      }
      out.fill(first >> 4, at, at += run);
    }
    return out;
  }
  function cellsOf(level) {
    if (!level.cells) {
      var text = texts[1 + spec.levels.indexOf(level)];
      level.cells = unpack(JSON.parse(text.textContent), level.columns * level.rows);
      text.textContent = ''; // it is not needed twice
    }
    return level.cells;
  }

  // Decode the quantities of cells, which put_quantities() in timeline.c has encoded.
  spec.layers.forEach(function (l) {
    var bytes = atob(l.cells);
    l.cells = new Float64Array(bytes.length / 2);
    for (var i = 0; i < l.cells.length; i++) {
      var code = bytes.charCodeAt(2 * i) + 256 * bytes.charCodeAt(2 * i + 1);
      l.cells[i] = code === 0 ? NaN : Math.pow(2, l.exponent + (code >> 10) - 63) * (0.5 + ((code & 1023) + 0.5) / 2048);
    }
  });

  // Returns the coarsest level whose cells are at most one and a half pixels large, or the finest level.
  function levelOf(width, height) {
    var share = (view.to - view.from) / (spec.to - spec.from);
    var ranks = view.bottom - view.top;
    for (var k = 0; k < spec.levels.length - 1; k++) {
      var level = spec.levels[k];
      if (level.columns * share >= width / 1.5 && ranks / level.span >= Math.min(height, ranks) / 1.5) { return level; }
    }
    return spec.levels[spec.levels.length - 1];
  }

  // Decodes the events of a script file, which gen/report/detail.c has encoded.
  function readEvents(text, firstRank) {
    var bytes = atob(text);
    var at = 0;
    function number() {
      var value = 0;
      for (var worth = 1, next = 128; next >= 128; worth *= 128) {
        next = bytes.charCodeAt(at++);
        value += (next & 127) * worth;
      }
      return value;
    }
    function difference() {
      var v = number();
      return v % 2 ? -(v - 1) / 2 : v / 2;
    }
    var out = { state: [], rank: [], from: [], to: [], messages: [] };
    var last = {};
    while (at < bytes.length) {
      var state = number();
      if (state === 0) {
        var m = { sender: number(), receiver: number(), from: number() };
        m.to = m.from + difference();
        m.bytes = number();
        m.from = spec.from + m.from / 1e9;
        m.to = spec.from + m.to / 1e9;
        out.messages.push(m);
      } else {
        var rank = number();
        var from = (last[rank] || 0) + difference();
        last[rank] = from + number();
        out.state.push(state - 1);
        out.rank.push(firstRank + rank);
        out.from.push(spec.from + from / 1e9);
        out.to.push(spec.from + last[rank] / 1e9);
      }
    }
    return out;
  }
  window.hpcwDetail = function (number, text) {
    files[number] = readEvents(text, spec.scripts[number][0]);
    drawSoon();
  };

  // Returns the numbers of the scripts with events of the window. Returns null if cells are drawn instead of events, because
  // the cells are fine enough, or because the window has too many ranks or scripts.
  function scriptsOf() {
    var finest = spec.levels[spec.levels.length - 1];
    if (!spec.folder || view.bottom - view.top > MOST_RANKS ||
      finest.columns * (view.to - view.from) / (spec.to - spec.from) > area.width) { return null; }
    var found = [];
    spec.scripts.forEach(function (s, i) {
      if (s[0] < view.bottom && s[1] >= view.top && s[2] < view.to && s[3] > view.from) { found.push(i); }
    });
    return found.length <= MOST_SCRIPTS ? found : null;
  }
  function load(number) {
    files[number] = null;
    var script = document.createElement('script');
    script.src = encodeURIComponent(spec.folder) + '/' + number + '.js';
    script.onerror = function () {
      lost = spec.folder + '/' + number + '.js cannot be read: keep this directory beside the page.';
      drawSoon();
    };
    document.body.appendChild(script);
  }

  // ---- Colours ----

  function word(rgb) { return (255 << 24 | rgb[2] << 16 | rgb[1] << 8 | rgb[0]) >>> 0; }
  function rgbOf(hex) { return [1, 3, 5].map(function (k) { return parseInt(hex.slice(k, k + 2), 16); }); }
  function palette() {
    var out = new Uint32Array(16);
    spec.states.forEach(function (state, i) { out[i] = word(rgbOf(page.colour(state.colour))); });
    return out;
  }
  var eventState = (spec.events || []).map(function (name) {
    var found = spec.states.findIndex(function (state) { return state.name === name; });
    return found >= 0 ? found : Math.max(0, spec.states.length - 2); // the state "other states"
  });

  // ---- Drawing ----

  function xOf(time) { return area.left + (time - view.from) / (view.to - view.from) * area.width; }
  function yOf(rank) { return area.top + (rank - view.top) / (view.bottom - view.top) * area.height; }

  // Fills an image with cells. values: each cell's index in `colours`; null: `colours` has a colour for each cell.
  function paintCells(pixels, width, height, grid, values, colours) {
    var column = new Int32Array(width);
    for (var x = 0; x < width; x++) {
      var time = view.from + (x + 0.5) / width * (view.to - view.from);
      column[x] = Math.min(grid.columns - 1, Math.max(0, Math.floor((time - spec.from) / (spec.to - spec.from) * grid.columns)));
    }
    var before = -1;
    for (var y = 0; y < height; y++) {
      var rank = view.top + (y + 0.5) / height * (view.bottom - view.top);
      var row = Math.min(grid.rows - 1, Math.floor(rank / grid.span));
      var start = y * width;
      if (row === before) {
        pixels.copyWithin(start, start - width, start);
        continue;
      }
      before = row;
      var cell = row * grid.columns;
      for (x = 0; x < width; x++) {
        pixels[start + x] = values ? colours[values[cell + column[x]]] : colours[cell + column[x]];
      }
    }
  }
  function paintEvents(pixels, width, height, events, colours) {
    var perSecond = width / (view.to - view.from);
    var perRank = height / (view.bottom - view.top);
    for (var i = 0; i < events.state.length; i++) {
      var rank = events.rank[i];
      if (events.to[i] <= view.from || events.from[i] >= view.to || rank + 1 <= view.top || rank >= view.bottom) { continue; }
      var left = Math.max(0, Math.floor((events.from[i] - view.from) * perSecond));
      var right = Math.min(width, Math.max(left + 1, Math.floor((events.to[i] - view.from) * perSecond)));
      var top = Math.max(0, Math.round((rank - view.top) * perRank));
      var bottom = Math.min(height, Math.max(top + 1, Math.round((rank + 1 - view.top) * perRank)));
      if (bottom - top > 4) { bottom--; } // a gap between ranks
      for (var y = top; y < bottom; y++) {
        pixels.fill(colours[eventState[events.state[i]]], y * width + left, y * width + right);
      }
    }
  }
  function layerColours() {
    if (layer.mode !== page.mode()) {
      layer.mode = page.mode();
      layer.scale = page.scaleOf(layer.cells);
      layer.words = Uint32Array.from(layer.cells, function (v) { return isNaN(v) ? 0 : word(page.onRamp(layer.scale.share(v))); });
    }
    return layer;
  }
  function drawMessages(numbers) {
    var seen = [];
    numbers.forEach(function (n) {
      files[n].messages.forEach(function (m) {
        var low = Math.min(m.sender, m.receiver);
        var high = Math.max(m.sender, m.receiver);
        if (m.to > view.from && m.from < view.to && high + 1 > view.top && low < view.bottom) { seen.push(m); }
      });
    });
    var step = Math.max(1, Math.ceil(seen.length / MOST_MESSAGES));
    ctx.strokeStyle = page.colour('ink');
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (var i = 0; i < seen.length; i += step) {
      ctx.moveTo(xOf(seen[i].from), yOf(seen[i].sender + 0.5));
      ctx.lineTo(xOf(seen[i].to), yOf(seen[i].receiver + 0.5));
    }
    ctx.stroke();
    return seen.length === 0 ? '' : '; a line is a message' + (step > 1 ? ', 1 of ' + step + ' is drawn' : '');
  }
  // Frames around times and ranks; a mark must not hide its cells.
  function drawFrames() {
    function frame(left, top, right, bottom, ink) {
      var end = area.left + area.width;
      if (bottom - top < 6 && left <= area.left && right >= end) { // rows of a few pixels: a bar at each end
        ctx.fillStyle = ink;
        [area.left, end - 8].forEach(function (x) { ctx.fillRect(x, (top + bottom) / 2 - 2, 8, 4); });
        return;
      }
      [['#ffffff', 3], [ink, 1.5]].forEach(function (pen) {
        ctx.strokeStyle = pen[0];
        ctx.lineWidth = pen[1];
        ctx.strokeRect(left, top, Math.max(right - left, 2), Math.max(bottom - top, 2));
      });
    }
    spec.areas.forEach(function (a) {
      if (a.right > view.from && a.left < view.to && a.bottom + 0.5 > view.top && a.top + 0.5 < view.bottom) {
        frame(xOf(a.left), yOf(a.top + 0.5), xOf(a.right), yOf(a.bottom + 0.5), '#d0006f');
      }
    });
    if (selected) { frame(xOf(selected.from), yOf(selected.rank), xOf(selected.to), yOf(selected.rank + 1), '#000000'); }
  }
  function steps(from, to, most, whole) {
    var raw = (to - from) / most;
    var power = Math.pow(10, Math.floor(Math.log10(raw)));
    var step = [1, 2, 5, 10].map(function (f) { return f * power; }).find(function (s) { return s >= raw; });
    step = whole ? Math.max(1, Math.round(step)) : step;
    var out = [];
    for (var i = Math.ceil(from / step); i * step <= to; i++) { out.push(i * step); }
    return { at: out, step: step };
  }
  function drawAxes(width, height) {
    ctx.fillStyle = page.colour('soft');
    ctx.strokeStyle = page.colour('soft');
    var letters = getComputedStyle(document.documentElement);
    ctx.font = Math.max(9, 0.75 * parseFloat(letters.fontSize)) + 'px ' + letters.fontFamily;
    ctx.lineWidth = 1;
    ctx.textAlign = 'center';
    var times = steps(view.from, view.to, Math.max(3, area.width / 75), false);
    ctx.beginPath();
    times.at.forEach(function (time) {
      var x = xOf(time);
      ctx.moveTo(x, area.top + area.height);
      ctx.lineTo(x, area.top + area.height + 5);
      ctx.fillText(page.showTick('seconds', time, times.step), Math.min(Math.max(x, 30), width - 30), area.top + area.height + 18);
    });
    ctx.textAlign = 'right';
    steps(view.top, view.bottom - 1, Math.max(1, area.height / 40), true).at.forEach(function (rank) {
      var y = yOf(rank + 0.5);
      ctx.moveTo(area.left - 5, y);
      ctx.lineTo(area.left, y);
      ctx.fillText(page.grouped(rank), area.left - 8, y + 4);
    });
    ctx.stroke();
    ctx.fillStyle = page.colour('ink');
    ctx.textAlign = 'center';
    ctx.fillText('time', area.left + area.width / 2, height - 4);
    ctx.save();
    ctx.translate(12, area.top + area.height / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText('rank', 0, 0);
    ctx.restore();
  }
  function draw() {
    var ratio = window.devicePixelRatio || 1;
    var width = plot.clientWidth;
    var height = plot.clientHeight;
    if (width === 0) { return; }
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    area = { left: 58, top: 6, width: width - 66, height: height - 46 };
    var across = Math.round(area.width * ratio);
    var down = Math.round(area.height * ratio);
    var image = ctx.createImageData(across, down);
    var pixels = new Uint32Array(image.data.buffer);
    var told;
    var wanted = layer ? null : scriptsOf();
    (wanted || []).forEach(function (n) { if (files[n] === undefined) { load(n); } });
    var ready = wanted !== null && wanted.every(function (n) { return files[n]; });
    var colours = palette();
    if (layer) {
      paintCells(pixels, across, down, layer, null, layerColours().words);
      told = cellSize(layer);
    } else if (ready) {
      pixels.fill(colours[spec.states.length - 1]);
      wanted.forEach(function (n) { paintEvents(pixels, across, down, files[n], colours); });
      told = 'Single events';
    } else {
      var level = levelOf(across, down);
      paintCells(pixels, across, down, level, cellsOf(level), colours);
      told = lost || (wanted !== null ? 'Reading single events' : cellSize(level));
    }
    ctx.putImageData(image, Math.round(area.left * ratio), Math.round(area.top * ratio));
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.width, area.height);
    ctx.clip();
    if (ready) { told += drawMessages(wanted); }
    drawFrames();
    ctx.restore();
    drawAxes(width, height);
    status.textContent = 'Shown: ' + page.showTick('seconds', view.from, view.to - view.from) + ' to ' +
      page.showTick('seconds', view.to, view.to - view.from) + ', ranks ' +
      page.grouped(Math.floor(view.top)) + ' to ' + page.grouped(Math.ceil(view.bottom) - 1) + '. ' + told + '.';
    canvas.setAttribute('data-drawn', 'yes');
  }
  function cellSize(grid) {
    return 'A cell is ' + page.show.seconds((spec.to - spec.from) / grid.columns) + ' of ' +
      (grid.span > 1 ? grid.span + ' ranks' : 'a rank');
  }
  var waiting = false;
  function drawSoon() {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(function () {
        waiting = false;
        draw();
      });
    }
  }

  // ---- The state at a rank and time ----

  function eventAt(rank, time) {
    var found = null;
    (scriptsOf() || []).forEach(function (n) {
      var e = files[n];
      for (var i = 0; e && i < e.state.length; i++) {
        if (e.rank[i] === rank && e.from[i] <= time && e.to[i] > time) {
          found = { rank: rank, from: e.from[i], to: e.to[i], name: spec.events[e.state[i]], file: e };
        }
      }
    });
    return found;
  }
  function messagesOf(event) {
    return event.file.messages.filter(function (m) {
      return m.receiver === event.rank && m.to >= event.from && m.to <= event.to;
    }).slice(0, 3).map(function (m) {
      return '; gets ' + page.show.bytes(m.bytes) + ' from rank ' + page.grouped(m.sender) + (m.from > event.from ?
        ', a late sender: it sends ' + page.show.seconds(m.from - event.from) + ' after this begins' : '');
    }).join('');
  }
  function say(rank, time) {
    var text = 'Rank ' + page.grouped(rank) + ' at ' + page.showTick('seconds', time, (view.to - view.from) / area.width) + ': ';
    var event = layer ? null : eventAt(rank, time);
    if (event) {
      selected = event;
      said.textContent = text + event.name + ' from ' + page.showTick('seconds', event.from, event.to - event.from) + ' for ' +
        page.show.seconds(event.to - event.from) + messagesOf(event) + '.';
      return;
    }
    var grid = layer || levelOf(area.width, area.height);
    var column = Math.min(grid.columns - 1, Math.floor((time - spec.from) / (spec.to - spec.from) * grid.columns));
    var cell = Math.floor(rank / grid.span) * grid.columns + column;
    var width = (spec.to - spec.from) / grid.columns;
    selected = { rank: rank, from: spec.from + column * width, to: spec.from + (column + 1) * width };
    var value = layer ? layer.cells[cell] : cellsOf(grid)[cell];
    var what = layer ? layer.name + ': ' + (isNaN(value) ? 'none' : page.show[layer.unit](value)) :
      value < spec.states.length ? spec.states[value].name : 'nothing';
    var marked = spec.areas.filter(function (a) {
      return time >= a.left && time < a.right && rank >= a.top && rank < a.bottom;
    }).map(function (a) { return a.label; });
    said.textContent = text + what + (grid.span > 1 ? ', most of ' + grid.span + ' ranks' : '') +
      (marked.length ? '; marked: ' + marked.join(', ') : '') + '.';
  }

  // ---- Moving ----

  function limit(low, high, from, to, smallest) {
    var size = Math.min(to - from, Math.max(high - low, smallest));
    var start = Math.min(Math.max((low + high - size) / 2, from), to - size);
    return [start, start + size];
  }
  function show(from, to, top, bottom) {
    var time = limit(from, to, spec.from, spec.to, least);
    var rank = limit(top, bottom, 0, spec.ranks, Math.min(4, spec.ranks));
    view = { from: time[0], to: time[1], top: rank[0], bottom: rank[1] };
    drawSoon();
  }
  function move(x, y) { // in windows
    var time = (view.to - view.from) * x;
    var rank = (view.bottom - view.top) * y;
    time = Math.min(Math.max(time, spec.from - view.from), spec.to - view.to);
    rank = Math.min(Math.max(rank, -view.top), spec.ranks - view.bottom);
    show(view.from + time, view.to + time, view.top + rank, view.bottom + rank);
  }
  function zoom(x, y, time, rank) { // x, y: factors of the size of the window; the given time and rank keep their position
    show(time - (time - view.from) * x, time + (view.to - time) * x, rank - (rank - view.top) * y, rank + (view.bottom - rank) * y);
  }
  function zoomMiddle(x, y) { zoom(x, y, (view.from + view.to) / 2, (view.top + view.bottom) / 2); }
  function all() { show(spec.from, spec.to, 0, spec.ranks); }
  function goTo(rank, from, to) {
    var span = Math.max((to - from) * 3, (spec.to - spec.from) / 500);
    selected = { rank: rank, from: from, to: to };
    show((from + to - span) / 2, (from + to + span) / 2, rank - 8, rank + 9);
    said.textContent = 'Rank ' + page.grouped(rank) + ', ' + page.show.seconds(from) + ' to ' + page.show.seconds(to) + '.';
  }
  function placeOf(event) {
    var box = canvas.getBoundingClientRect();
    return {
      time: view.from + (event.clientX - box.left - area.left) / area.width * (view.to - view.from),
      rank: view.top + (event.clientY - box.top - area.top) / area.height * (view.bottom - view.top)
    };
  }
  function sayAt(place) {
    if (place.time >= view.from && place.time < view.to && place.rank >= view.top && place.rank < view.bottom) {
      say(Math.floor(place.rank), place.time);
      drawSoon();
    }
  }

  canvas.tabIndex = 0;
  canvas.addEventListener('wheel', function (event) {
    if (document.activeElement !== canvas && !event.ctrlKey) { return; } // leave the event to the page, which scrolls
    event.preventDefault();
    var place = placeOf(event);
    // With Shift, browsers set deltaX instead of deltaY. deltaMode 1 counts lines; a line is taken as 33 pixels.
    var turned = (event.deltaY || event.deltaX) * (event.deltaMode === 1 ? 33 : 1);
    var factor = Math.pow(1.0015, turned);
    zoom(event.shiftKey ? 1 : factor, event.shiftKey ? factor : 1, place.time, place.rank);
  }, { passive: false });

  var fingers = new Map();
  var moved = 0;
  canvas.addEventListener('pointerdown', function (event) {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    moved = 0;
  });
  canvas.addEventListener('pointermove', function (event) {
    var last = fingers.get(event.pointerId);
    if (!last) { return; }
    var now = { x: event.clientX, y: event.clientY };
    moved += Math.abs(now.x - last.x) + Math.abs(now.y - last.y);
    if (fingers.size === 1) {
      move((last.x - now.x) / area.width, (last.y - now.y) / area.height);
    } else {
      var other = Array.from(fingers.keys()).find(function (id) { return id !== event.pointerId; });
      var still = fingers.get(other);
      var before = Math.max(20, Math.abs(last.x - still.x));
      var after = Math.max(20, Math.abs(now.x - still.x));
      var place = placeOf({ clientX: (now.x + still.x) / 2, clientY: (now.y + still.y) / 2 });
      zoom(before / after, 1, place.time, place.rank);
    }
    fingers.set(event.pointerId, now);
  });
  canvas.addEventListener('pointerup', function (event) {
    if (fingers.delete(event.pointerId) && fingers.size === 0 && moved < 5) { sayAt(placeOf(event)); }
  });
  canvas.addEventListener('pointercancel', function (event) { fingers.delete(event.pointerId); });
  canvas.addEventListener('dblclick', function (event) {
    var place = placeOf(event);
    zoom(0.4, 0.4, place.time, place.rank);
  });
  var keys = {
    ArrowLeft: function () { move(-0.25, 0); }, ArrowRight: function () { move(0.25, 0); },
    ArrowUp: function () { move(0, -0.25); }, ArrowDown: function () { move(0, 0.25); },
    '+': function () { zoomMiddle(0.5, 1); }, '-': function () { zoomMiddle(2, 1); },
    i: function () { zoomMiddle(1, 0.5); }, o: function () { zoomMiddle(1, 2); }, 0: all,
    Enter: function () { sayAt({ time: (view.from + view.to) / 2, rank: (view.top + view.bottom) / 2 }); }
  };
  var steer = { // Shift and arrow keys: the place beside the marked one
    ArrowLeft: function (s) { return { time: s.from - (s.to - s.from) / 2, rank: s.rank }; },
    ArrowRight: function (s) { return { time: s.to + (s.to - s.from) / 2, rank: s.rank }; },
    ArrowUp: function (s) { return { time: (s.from + s.to) / 2, rank: s.rank - 1 }; },
    ArrowDown: function (s) { return { time: (s.from + s.to) / 2, rank: s.rank + 1 }; }
  };
  canvas.addEventListener('keydown', function (event) {
    if (event.ctrlKey || event.altKey || event.metaKey) { return; }
    if (event.shiftKey && steer[event.key] && selected) {
      sayAt(steer[event.key](selected));
    } else if (keys[event.key]) {
      keys[event.key]();
    } else {
      return;
    }
    event.preventDefault();
  });

  // ---- Controls ----

  function element(name, parent, text) {
    var e = document.createElement(name);
    if (text) { e.textContent = text; }
    parent.appendChild(e);
    return e;
  }
  var controls = document.createElement('div');
  controls.className = 'controls';
  [['\u25c0', 'earlier', keys.ArrowLeft], ['\u25b6', 'later', keys.ArrowRight], ['\u25b2', 'lower ranks', keys.ArrowUp],
    ['\u25bc', 'higher ranks', keys.ArrowDown], ['+ time', 'less time', keys['+']], ['\u2212 time', 'more time', keys['-']],
    ['+ ranks', 'fewer ranks', keys.i], ['\u2212 ranks', 'more ranks', keys.o], ['All', 'the whole log', all]
  ].forEach(function (row) {
    var button = element('button', controls, row[0]);
    button.type = 'button';
    button.setAttribute('aria-label', 'Show ' + row[1]);
    button.addEventListener('click', row[2]);
  });
  var choice = element('select', element('label', controls, 'Colour: '));
  element('option', choice, 'state');
  spec.layers.forEach(function (l) { element('option', choice, l.name); });
  choice.addEventListener('change', function () {
    layer = choice.selectedIndex === 0 ? null : spec.layers[choice.selectedIndex - 1];
    selected = null;
    said.textContent = '';
    legend();
    drawSoon();
  });
  var names = element('select', element('label', controls, 'Find: '));
  element('option', names, 'a state');
  spec.places.map(function (p) { return p.name; }).filter(function (name, i, list) { return list.indexOf(name) === i; })
    .sort().forEach(function (name) { element('option', names, name); });
  var turn = 0;
  function find() {
    var found = spec.places.filter(function (p) { return p.name === names.value; });
    if (found.length === 0) { return; }
    var p = found[turn++ % found.length];
    goTo(p.rank, p.from, p.to);
    said.textContent = p.name + ', number ' + ((turn - 1) % found.length + 1) + ' of its longest ' + found.length + ': rank ' +
      page.grouped(p.rank) + ' from ' + page.show.seconds(p.from) + ' for ' + page.show.seconds(p.to - p.from) + '.';
  }
  names.addEventListener('change', function () {
    turn = 0;
    find();
  });
  var next = element('button', controls, 'Next');
  next.type = 'button';
  next.addEventListener('click', find);
  plot.parentNode.insertBefore(controls, plot);
  var scale = document.createElement('div');
  plot.parentNode.insertBefore(scale, plot);
  function legend() {
    scale.textContent = '';
    scale.className = 'scale';
    if (layer) {
      page.ramp(scale, layer.name, layerColours().scale, page.show[layer.unit]);
    } else {
      spec.states.forEach(function (state) {
        var entry = element('span', scale);
        element('span', entry).className = 'swatch';
        entry.firstChild.style.background = 'var(--' + state.colour + ')';
        entry.appendChild(document.createTextNode(state.name));
      });
    }
    spec.areas.map(function (a) { return a.label; }).filter(function (l, i, list) { return list.indexOf(l) === i; })
      .forEach(function (label) { element('span', scale, 'framed: ' + label); });
  }
  var status = document.createElement('p');
  status.className = 'status';
  var said = document.createElement('p');
  said.className = 'said';
  said.setAttribute('aria-live', 'polite');
  plot.parentNode.insertBefore(said, plot.nextSibling);
  plot.parentNode.insertBefore(status, plot.nextSibling);

  document.addEventListener('click', function (event) {
    var link = event.target.closest('a[data-rank]');
    if (link) { goTo(Number(link.dataset.rank), Number(link.dataset.from), Number(link.dataset.to)); }
  });
  window.addEventListener('resize', drawSoon);
  // Finer levels are read while nobody waits for them.
  spec.levels.slice(1).forEach(function (level, i) { setTimeout(function () { cellsOf(level); }, 300 * (i + 1)); });

  return {
    draw: function () {
      legend();
      draw();
    }
  };
}
