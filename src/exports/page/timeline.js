// timeline.js: a lane for each thread, with a bar for each slot of time. Dragging chooses a time, a click a thread.
'use strict';

const LANE = 22, NAMES = 190, MOST_LANES = 200;

class Timeline {
  /// `choose` is called with a filter {thread, from, to} whenever the user has changed it.
  constructor(canvas, profile, choose) {
    this.canvas = canvas;
    this.profile = profile;
    this.choose = choose;
    this.filter = {thread: -1, from: 0, to: profile.slots};
    this.sum();
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
    this.listen();
  }

  /// The weight of each slot of each thread, the heaviest threads first.
  sum() {
    const profile = this.profile;
    this.lanes = profile.threads.map((thread, number) =>
      ({number, thread, whole: 0, slots: new Float64Array(profile.slots)}));
    for (let row = 0; row < profile.rowNode.length; row++) {
      const lane = this.lanes[profile.rowThread[row]];
      lane.slots[profile.rowSlot[row]] += profile.rowWeight[row];
      lane.whole += profile.rowWeight[row];
    }
    this.lanes.sort((a, b) => b.whole - a.whole);
    this.left = Math.max(this.lanes.length - MOST_LANES, 0);  // lanes that are not drawn
    this.lanes.length = Math.min(this.lanes.length, MOST_LANES);
    this.tallest = Math.max(1, ...this.lanes.map((lane) => lane.slots.reduce((most, each) => Math.max(most, each), 0)));
  }

  x(slot) { return NAMES + slot / this.profile.slots * (this.width - NAMES); }
  slot(event) {
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    const slot = (x - NAMES) / (this.width - NAMES) * this.profile.slots;
    return Math.min(Math.max(slot, 0), this.profile.slots);
  }

  draw() {
    const scale = devicePixelRatio || 1, canvas = this.canvas;
    this.width = canvas.parentElement.clientWidth;
    const height = this.lanes.length * LANE;
    canvas.style.height = `${height}px`;
    canvas.style.width = `${this.width}px`;
    canvas.width = Math.round(this.width * scale);
    canvas.height = Math.round(height * scale);
    const pen = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = '12px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    this.lanes.forEach((lane, i) => this.drawLane(pen, lane, i * LANE, style));
    pen.fillStyle = style.getPropertyValue('--veil');
    pen.fillRect(NAMES, 0, this.x(this.filter.from) - NAMES, height);
    pen.fillRect(this.x(this.filter.to), 0, this.width - this.x(this.filter.to), height);
  }

  drawLane(pen, lane, y, style) {
    const chosen = this.filter.thread < 0 || this.filter.thread === lane.number;
    pen.globalAlpha = chosen ? 1 : 0.35;
    pen.fillStyle = style.getPropertyValue('--ink');
    const {comm, tid, event, side} = lane.thread;
    const name = `${side === BASE ? 'baseline ' : ''}${comm} ${tid < 0 ? '' : tid} ${event}`;
    pen.fillText(name, 6, y + LANE / 2, NAMES - 12);
    pen.fillStyle = style.getPropertyValue(side === BASE ? '--base' : '--accent');
    const width = Math.max(this.x(1) - this.x(0), 1);
    lane.slots.forEach((weight, slot) => {
      if (weight === 0) return;
      const bar = Math.max(weight / this.tallest * (LANE - 4), 2);
      pen.fillRect(this.x(slot), y + LANE - 1 - bar, width, bar);
    });
    pen.globalAlpha = 1;
  }

  reset() {
    this.filter = {thread: -1, from: 0, to: this.profile.slots};
    this.draw();
    this.choose(this.filter);
  }

  listen() {
    let begin = null;
    this.canvas.addEventListener('pointerdown', (event) => {
      begin = this.slot(event);
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener('pointermove', (event) => {
      if (begin === null || Math.abs(this.slot(event) - begin) < this.profile.slots / 200) return;
      const [from, to] = [begin, this.slot(event)].sort((a, b) => a - b);
      Object.assign(this.filter, {from: Math.floor(from), to: Math.ceil(to)});
      this.draw();
    });
    this.canvas.addEventListener('pointerup', (event) => {
      if (begin === null) return;
      if (Math.abs(this.slot(event) - begin) < this.profile.slots / 200) this.chooseLane(event);
      begin = null;
      this.draw();
      this.choose(this.filter);
    });
  }

  chooseLane(event) {
    const lane = this.lanes[Math.floor((event.clientY - this.canvas.getBoundingClientRect().top) / LANE)];
    if (lane) this.filter.thread = this.filter.thread === lane.number ? -1 : lane.number;
  }
}
