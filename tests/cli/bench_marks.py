# SPDX-License-Identifier: BSD-3-Clause
"""On 390 pixels, as on a telephone, the texts of marks cover no point of a chart, wherever the points are. Usage: bench_marks.py
PAGE. Exit status 1: a text covers a point, or the page has no marks."""
import sys

from browser import Browser

# Draws each chart with marks again: as it is, and with many points at the height of the highest one, each time with axes that end
# there, above it and far above it. Returns the number of texts, and those that come nearer than the radius of a point, 5 pixels,
# to one. Only the texts of vertical marks have enough space beside many points.
LOOK = """(function () {
    var texts = 0, covering = [];
    var write = CanvasRenderingContext2D.prototype.fillText;
    document.querySelectorAll('canvas').forEach(function (canvas) {
        var chart = Chart.getChart(canvas);
        var marks = chart && chart.config.options.marks || [];
        if (marks.length === 0) { return; }
        var highest = Math.max.apply(null, [].concat.apply([], chart.data.datasets.map(s => s.data.map(p => p.y))));
        var points = chart.data.datasets[0].data;
        var row = [0, 1, 2, 3, 4, 5, 6, 7].map(k => ({ x: chart.scales.x.min * Math.pow(2, k / 2), y: highest }));
        [[points, 1], [points, 1.04], [points, 1.5], [row, 1], [row, 1.04], [row, 1.5]].forEach(function (look) {
            chart.data.datasets[0].data = look[0];
            var space = look[1];
            var boxes = [];
            CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
                if (marks.some(m => m.label === text && (m.vertical || look[0] === points))) {
                    var width = this.measureText(text).width;
                    var left = this.textAlign === 'right' ? x - width : x;
                    boxes.push([left - 5, left + width + 5, y - 15, y + 8]);
                }
                write.apply(this, arguments);
            };
            chart.options.scales.y.max = highest * space;
            chart.update();
            boxes.forEach(function (b) {
                texts++;
                chart.data.datasets.forEach((set, k) => chart.getDatasetMeta(k).data.forEach(function (e) {
                    if (e.x > b[0] && e.x < b[1] && e.y > b[2] && e.y < b[3]) {
                        covering.push([canvas.closest('figure').id, space, set.label]);
                    }
                }));
            });
        });
        CanvasRenderingContext2D.prototype.fillText = write;
    });
    return [texts, covering];
})()"""

page = Browser()
try:
    page.size(390, 844)
    page.open(sys.argv[1])
    texts, covering = page.run(LOOK)
finally:
    page.close()
if texts == 0 or covering:
    print(f"{texts} texts of marks, and points below them: {covering}", file=sys.stderr)
    sys.exit(1)
