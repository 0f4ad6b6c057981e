// flame.js: draws a tree of calls on a canvas. Each depth is a list of nodes sorted by their place, so that drawing
// begins at the first visible one by binary search, and nodes that share a pixel column are skipped as one.
'use strict';

const ROW = 18, TEXT_MARGIN = 4, MOTION_MS = 180;
const still = matchMedia('(prefers-reduced-motion: reduce)');

class Flame {
  /// `show` is called with the node under the pointer, `choose` with the one that was clicked, `menu` with the one that
  /// was clicked by the other button, and the event.
  constructor(canvas, handlers) {
    this.canvas = canvas;
    this.handlers = handlers;
    this.icicle = true;
    this.hits = null;  // of each function: whether the search finds it
    this.zoomed = [];  // nodes, for going back
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.listen();
  }

  set(tree, byWeight) {
    this.tree = tree;
    this.lay(byWeight);
    this.zoomed = [];
    this.left = 0;
    this.right = this.whole;
    this.top = 0;
    this.resize();
  }

  /// Places nodes from left to right: start and depth of each, and the nodes of each depth.
  lay(byWeight) {
    const tree = this.tree, size = tree.parent.length;
    this.start = new Float64Array(size);
    this.depth = new Uint16Array(size);
    this.span = new Float64Array(size);
    const below = Array.from({length: size}, () => null);
    for (let node = 0; node < size; node++) {
      this.span[node] = tree.width(node);
      if (node > 0 && this.span[node] > 0) (below[tree.parent[node]] ||= []).push(node);
    }
    const name = (node) => tree.profile.name(tree.func[node]);
    const order = byWeight ? (a, b) => this.span[b] - this.span[a] : (a, b) => (name(a) < name(b) ? -1 : 1);
    this.whole = this.span[0];
    this.levels = [];
    const open = [0];
    while (open.length > 0) {
      const node = open.pop();
      (this.levels[this.depth[node]] ||= []).push(node);
      let at = this.start[node];
      const inside = below[node] ? below[node].sort(order) : [];
      for (const each of inside) {
        this.start[each] = at;
        this.depth[each] = this.depth[node] + 1;
        at += this.span[each];
      }
      for (let i = inside.length - 1; i >= 0; i--) open.push(inside[i]);
    }
  }

  resize() {
    const scale = devicePixelRatio || 1, box = this.canvas.getBoundingClientRect();
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.round(box.width * scale);
    this.canvas.height = Math.round(box.height * scale);
    this.draw();
  }

  ask() {
    this.asked ||= requestAnimationFrame(() => {
      this.asked = 0;
      this.draw();
    });
  }

  y(depth) {
    const y = depth * ROW - this.top;
    return this.icicle ? y : this.height - ROW - y;
  }

  /// The number of the first node of a level that ends after `place`.
  first(level, place) {
    let low = 0, high = level.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start[level[middle]] + this.span[level[middle]] <= place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  draw() {
    if (!this.tree || this.width === 0) return;
    const pen = this.canvas.getContext('2d'), scale = devicePixelRatio || 1;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    pen.font = '12px ui-monospace, monospace';
    pen.textBaseline = 'middle';
    this.letter ||= pen.measureText('m').width;
    this.palette = new Palette(this.tree, this.hits);
    this.drawn = 0;
    const labels = [];
    for (let depth = 0; depth < this.levels.length; depth++) {
      const y = this.y(depth);
      if (y > -ROW && y < this.height) this.drawLevel(pen, this.levels[depth], y, labels);
    }
    pen.fillStyle = this.palette.text;
    for (const [text, x, y] of labels) pen.fillText(text, x, y);
  }

  drawLevel(pen, level, y, labels) {
    const scale = this.width / (this.right - this.left);
    for (let i = this.first(level, this.left); i < level.length; i++) {
      const node = level[i], begin = (this.start[node] - this.left) * scale, end = begin + this.span[node] * scale;
      if (begin >= this.width) break;
      this.drawn++;
      if (end - begin < 1) {
        const pixel = Math.floor(begin), next = this.first(level, this.left + (pixel + 1) / scale);
        let hit = false;
        for (let each = i; this.hits && each < Math.max(next, i + 1) && !hit; each++) hit = this.palette.isHit(level[each]);
        pen.fillStyle = this.palette.narrow(hit);
        pen.fillRect(pixel, y, 1, ROW - 1);
        i = Math.max(next - 1, i);
        continue;
      }
      const x = Math.max(begin, 0), width = Math.min(end, this.width) - x;
      pen.fillStyle = this.palette.fill(node);
      pen.fillRect(x, y, Math.max(width - (width > 3 ? 1 : 0), 1), ROW - 1);
      this.label(node, x, y, width, labels);
    }
  }

  label(node, x, y, width, labels) {
    const room = Math.floor((width - 2 * TEXT_MARGIN) / this.letter);
    if (room < 3) return;
    const name = this.nameOf(node);
    labels.push([name.length <= room ? name : name.slice(0, room - 1) + '…', x + TEXT_MARGIN, y + ROW / 2]);
  }

  nameOf(node) { return node === 0 ? 'all' : this.tree.profile.name(this.tree.func[node]); }

  /// The node at a point of the page, or -1.
  at(event) {
    const box = this.canvas.getBoundingClientRect(), y = event.clientY - box.top;
    const depth = Math.floor(((this.icicle ? y : this.height - y) + this.top) / ROW), level = this.levels?.[depth];
    if (!level) return -1;
    const place = this.left + (event.clientX - box.left) / this.width * (this.right - this.left);
    const node = level[this.first(level, place)];
    return node !== undefined && this.start[node] <= place ? node : -1;
  }

  /// Shows a part of the width. The nodes slide there, unless the user wants no motion.
  move(left, right, done = () => {}) {
    const [fromLeft, fromRight, begin] = [this.left, this.right, performance.now()];
    const step = () => {
      const part = still.matches ? 1 : Math.min((performance.now() - begin) / MOTION_MS, 1), eased = part * (2 - part);
      this.left = fromLeft + (left - fromLeft) * eased;
      this.right = fromRight + (right - fromRight) * eased;
      this.draw();
      if (part < 1) this.moving = requestAnimationFrame(step);
      else done();
    };
    cancelAnimationFrame(this.moving);
    step();
  }

  zoom(node) {
    if (this.zoomed.at(-1) !== node) this.zoomed.push(node);
    this.move(this.start[node], this.start[node] + this.span[node]);
  }
  zoomOut() {
    this.zoomed = [];
    this.move(0, this.whole);
  }
  back() {
    this.zoomed.pop();
    const node = this.zoomed.at(-1) ?? 0;
    this.move(this.start[node], this.start[node] + this.span[node]);
  }

  /// Widens what is shown by a factor, around a place given as a part of the width.
  widen(factor, around) {
    const span = Math.min(Math.max((this.right - this.left) * factor, this.whole * 1e-9), this.whole);
    const place = this.left + (this.right - this.left) * around;
    this.left = Math.min(Math.max(place - span * around, 0), this.whole - span);
    this.right = this.left + span;
    this.ask();
  }

  pan(x, y) {
    const span = this.right - this.left;
    this.left = Math.min(Math.max(this.left + x / this.width * span, 0), this.whole - span);
    this.right = this.left + span;
    const room = Math.max(this.levels.length * ROW - this.height, 0);
    this.top = Math.min(Math.max(this.top + (this.icicle ? y : -y), 0), room);
    this.ask();
  }

  listen() {
    const canvas = this.canvas;
    let from = null, dragged = false;
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      from = [event.clientX, event.clientY];
      dragged = false;
    });
    canvas.addEventListener('pointermove', (event) => {
      if (from && (dragged || Math.hypot(event.clientX - from[0], event.clientY - from[1]) > 4)) {
        dragged = true;
        canvas.setPointerCapture(event.pointerId);
        this.pan(from[0] - event.clientX, from[1] - event.clientY);
        from = [event.clientX, event.clientY];
      }
      this.handlers.show(this, dragged && from ? -1 : this.at(event), event);
    });
    canvas.addEventListener('pointerup', (event) => {
      const node = this.at(event);
      if (from && !dragged && node >= 0) this.handlers.choose(this, node);
      from = null;
    });
    canvas.addEventListener('pointerleave', (event) => this.handlers.show(this, -1, event));
    canvas.addEventListener('contextmenu', (event) => {
      event.preventDefault();
      const node = this.at(event);
      if (node > 0) this.handlers.menu(this, node, event);
    });
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX + event.deltaY, 0);
      else if (event.altKey) this.pan(0, event.deltaY);
      else this.widen(Math.exp(event.deltaY / 300), (event.clientX - box.left) / box.width);
    }, {passive: false});
  }
}

/// The colours of one drawing: a hue for each dso, lighter or darker by name; or red and blue for more and less.
class Palette {
  constructor(tree, hits) {
    this.tree = tree;
    this.hits = hits;
    this.dark = document.documentElement.classList.contains('dark');
    this.text = this.dark ? '#f2f2f2' : '#111';
    this.plain = this.dark ? '#3c4048' : '#d9dbe0';
    this.found = this.dark ? '#b040b0' : '#e58ae5';
    tree.profile.hues ||= {false: [], true: []};
    this.hues = tree.profile.hues[this.dark];
  }

  isHit(node) { return this.hits !== null && node > 0 && this.hits[this.tree.func[node]]; }

  narrow(hit) {
    if (hit) return this.found;
    return this.dark ? '#5a5f6b' : '#b4b8c2';
  }

  fill(node) {
    if (this.isHit(node)) return this.found;
    if (node === 0 || this.hits) return this.plain;
    return this.tree.profile.isDiff ? this.difference(node) : this.hue(this.tree.func[node]);
  }

  hue(func) {
    return this.hues[func] ||= ((profile) => {
      const mix = (text) => [...text].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 65521, 7);
      const hue = mix(profile.dso(func)) % 360, shade = mix(profile.name(func)) % 14;
      return `hsl(${hue} ${this.dark ? 30 : 62}% ${(this.dark ? 28 : 70) + shade}%)`;
    })(this.tree.profile);
  }

  difference(node) {
    const {now, before, significant} = this.tree.change(node);
    if (!significant) return this.plain;
    const strength = Math.min(Math.abs(Math.log2((now + 1e-6) / (before + 1e-6))) / 2, 1);
    const light = this.dark ? 34 + 10 * strength : 84 - 30 * strength;
    return `hsl(${now > before ? 6 : 220} ${50 + 40 * strength}% ${light}%)`;
  }
}
