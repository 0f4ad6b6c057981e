// app.js: connects the views: what is chosen in one is shown in the others. The URL's fragment keeps the view, so that a
// link or a reload leads back to it.
'use strict';

const byId = (id) => document.getElementById(id);

class App {
  constructor(profile) {
    this.profile = profile;
    this.changes = {hidden: new Set(), collapsed: new Set(), merged: new Set()};
    this.state = {measure: 'weight', inverted: false, byWeight: false, icicle: true, find: '', func: -1};
    const handlers = {
      show: (flame, node, event) => this.tip(flame, node, event),
      choose: (flame, node) => this.select(flame, node),
      menu: (flame, node, event) => this.menu(flame, node, event),
    };
    this.flame = new Flame(byId('flame'), handlers);
    this.callers = new Flame(byId('callers'), handlers);
    this.callees = new Flame(byId('callees'), handlers);
    this.callers.icicle = false;
    this.table = new Table(byId('table'), (func) => this.sandwich(func));
    this.timeline = new Timeline(byId('timeline'), profile, () => this.rebuild());
    byId('threads').open = this.timeline.lanes.length <= 12;
    document.body.classList.toggle('diff', profile.isDiff);
    this.facts();
    this.theme(matchMedia('(prefers-color-scheme: dark)').matches);
    this.listen();
    this.restore();
    this.rebuild();
    if (this.state.func >= 0) this.sandwich(this.state.func);
  }

  get flames() { return [this.flame, this.callers, this.callees]; }

  facts() {
    const {facts, title} = this.profile;
    document.title = title;
    byId('title').textContent = title;
    for (const [name, value] of facts) {
      const line = byId('facts').insertRow();
      line.insertCell().textContent = name;
      line.insertCell().textContent = value;
    }
  }

  say(text) { byId('status').textContent = text; }

  /// Makes the tree anew, after the filter or what is left out has changed.
  rebuild() {
    const tree = this.profile.tree(this.timeline.filter, this.changes, this.state.measure);
    this.tree = tree;
    this.shown = this.state.inverted ? tree.inverted() : tree;
    this.flame.icicle = this.state.icicle;
    this.flame.set(this.shown, this.state.byWeight);
    this.search(this.state.find);
    if (this.state.func >= 0 && !byId('sandwich').hidden) this.sandwich(this.state.func);
    const frames = (this.shown.parent.length - 1).toLocaleString('en');
    this.say(`${frames} frames, ${this.amount(tree.total[NEW][0])}${this.changed()}`);
    this.keep();
  }

  changed() {
    const {thread, from, to} = this.timeline.filter, {hidden, collapsed, merged} = this.changes;
    const parts = [];
    if (thread >= 0 || from > 0 || to < this.profile.slots) parts.push('a part of the time or the threads');
    const changes = hidden.size + collapsed.size + merged.size;
    if (changes > 0) parts.push(`${changes} changed`);
    return parts.length > 0 ? ` (${parts.join(', ')}; r shows everything)` : '';
  }

  amount(weight) {
    if (this.state.measure === 'samples') return `${weight.toLocaleString('en')} samples`;
    if (this.profile.unit !== 'nanoseconds') return `${weight.toLocaleString('en')} ${this.profile.event}`;
    return weight >= 1e9 ? `${(weight / 1e9).toFixed(3)} s` : `${(weight / 1e6).toFixed(3)} ms`;
  }

  /// Marks the functions that a regular expression finds, and shows how much of the whole has one of them.
  search(text) {
    this.state.find = text;
    let hits = null, problem = '';
    try {
      const wanted = text === '' ? null : new RegExp(text, 'i');
      if (wanted) hits = this.profile.functions.map(([name]) => wanted.test(name));
    } catch (error) {
      problem = error.message;
    }
    for (const flame of this.flames) {
      flame.hits = hits;
      flame.ask();
    }
    this.table.set(this.tree, hits);
    byId('found').textContent = problem || (hits ? `${(100 * this.matched(hits)).toFixed(2)} % found` : '');
    this.hitNodes = null;
    this.keep();
  }

  matched(hits) {
    const inside = new Uint8Array(this.tree.parent.length);
    let weight = 0;
    for (let node = 1; node < inside.length; node++) {
      inside[node] = inside[this.tree.parent[node]] || hits[this.tree.func[node]] ? 1 : 0;
      if (inside[node]) weight += this.tree.self[NEW][node];
    }
    return this.tree.share(NEW, weight);
  }

  /// Zooms to the next frame that the search has found, the heaviest first.
  nextHit(step) {
    const {flame} = this;
    if (!flame.hits) return;
    this.hitNodes ||= this.shown.parent.map((_, node) => node)
      .filter((node) => node > 0 && flame.hits[this.shown.func[node]]).sort((a, b) => flame.span[b] - flame.span[a]);
    if (this.hitNodes.length === 0) return;
    this.hit = ((this.hit ?? -step) + step + this.hitNodes.length) % this.hitNodes.length;
    flame.zoom(this.hitNodes[this.hit]);
    this.say(`${this.hit + 1} of ${this.hitNodes.length}: ${this.describe(flame, this.hitNodes[this.hit])}`);
  }

  describe(flame, node) {
    const {tree} = flame, weight = tree.total[NEW][node], percent = (part) => `${(100 * part).toFixed(2)} %`;
    const lines = [flame.nameOf(node)];
    if (node > 0) lines.push(this.profile.dso(tree.func[node]));
    const own = tree.self[NEW][node], above = Math.max(tree.parent[node], 0);
    lines.push(`total ${percent(tree.share(NEW, weight))}, ${this.amount(weight)}; own ${percent(tree.share(NEW, own))}`);
    if (node > 0 && tree.total[NEW][above] > 0) lines.push(`${percent(weight / tree.total[NEW][above])} of the frame above`);
    lines.push(`${tree.count[NEW][node].toLocaleString('en')} samples`);
    if (this.profile.isDiff && node > 0) {
      const {now, before, significant} = tree.change(node);
      lines.push(`baseline ${percent(before)}, now ${percent(now)}${significant ? '' : ': no significant change'}`);
    }
    return lines.join('\n');
  }

  tip(flame, node, event) {
    const tip = byId('tip');
    tip.hidden = node < 0;
    if (node < 0) return;
    tip.textContent = this.describe(flame, node);
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 4)}px`;
  }

  select(flame, node) {
    flame.zoom(node);
    this.chosen = {flame, node};
    this.say(this.describe(flame, node).replaceAll('\n', ' · '));
  }

  /// The callers and the callees of a function.
  sandwich(func) {
    this.state.func = func;
    byId('sandwich').hidden = false;
    byId('who').textContent = this.profile.name(func);
    this.callers.set(this.tree.around(func, true), this.state.byWeight);
    this.callees.set(this.tree.around(func, false), this.state.byWeight);
    this.keep();
  }

  closeSandwich() {
    byId('sandwich').hidden = true;
    this.state.func = -1;
    this.keep();
  }

  menu(flame, node, event) {
    const func = flame.tree.func[node], [, dso] = this.profile.functions[func], menu = byId('menu');
    const change = (set, value) => () => { set.add(value); this.rebuild(); };
    const actions = [
      ['Zoom', () => this.select(flame, node)],
      ['Callers and callees', () => this.sandwich(func)],
      ['Find the name', () => this.find(this.profile.name(func))],
      ['Hide samples with the function', change(this.changes.hidden, func)],
      ['Collapse its recursion', change(this.changes.collapsed, func)],
      ['Merge the calls within its library', change(this.changes.merged, dso)],
      ['Copy the name', () => navigator.clipboard?.writeText(this.profile.name(func))],
      ['Copy the stack', () => navigator.clipboard?.writeText(flame.tree.path(node).join('\n'))],
    ];
    menu.replaceChildren(...actions.map(([text, act]) => {
      const button = document.createElement('button');
      button.textContent = text;
      button.onclick = () => { menu.hidden = true; act(); };
      return button;
    }));
    menu.hidden = false;
    menu.style.left = `${Math.min(event.clientX, innerWidth - menu.offsetWidth - 4)}px`;
    menu.style.top = `${Math.min(event.clientY, innerHeight - menu.offsetHeight - 4)}px`;
    menu.firstChild.focus();
  }

  find(name) {
    byId('find').value = `^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
    this.search(byId('find').value);
  }

  theme(dark) {
    document.documentElement.classList.toggle('dark', dark);
    for (const flame of this.flames) flame.ask();
    this.timeline.draw();
  }

  toggle(name, value = !this.state[name]) {
    this.state[name] = value;
    this.rebuild();
  }

  /// Back to the view of the whole recording.
  reset() {
    for (const set of Object.values(this.changes)) set.clear();
    this.timeline.reset();
  }

  keep() {
    const {find, func, ...rest} = this.state;
    const kept = new URLSearchParams({...rest, find, func: func < 0 ? '' : this.profile.name(func)});
    history.replaceState(null, '', `#${kept}`);
  }

  restore() {
    const kept = new URLSearchParams(location.hash.slice(1));
    for (const name of ['inverted', 'byWeight', 'icicle']) if (kept.has(name)) this.state[name] = kept.get(name) === 'true';
    if (kept.get('measure') === 'samples') this.state.measure = 'samples';
    this.state.find = byId('find').value = kept.get('find') ?? '';
    this.state.func = this.profile.functions.findIndex(([name]) => name === kept.get('func'));
  }

  listen() {
    const actions = {
      '/': () => byId('find').focus(),
      n: () => this.nextHit(1),
      N: () => this.nextHit(-1),
      i: () => this.toggle('icicle'),
      v: () => this.toggle('inverted'),
      o: () => this.toggle('byWeight'),
      w: () => this.toggle('measure', this.state.measure === 'weight' ? 'samples' : 'weight'),
      d: () => this.theme(!document.documentElement.classList.contains('dark')),
      r: () => this.reset(),
      s: () => this.chosen && this.sandwich(this.chosen.flame.tree.func[this.chosen.node]),
      t: () => byId('threads').toggleAttribute('open'),
      '?': () => byId('help').showModal(),
      '+': () => this.flame.widen(0.7, 0.5),
      '-': () => this.flame.widen(1.4, 0.5),
      Backspace: () => this.flame.back(),
      ArrowLeft: () => this.flame.pan(-80, 0),
      ArrowRight: () => this.flame.pan(80, 0),
      ArrowUp: () => this.flame.pan(0, -3 * ROW),
      ArrowDown: () => this.flame.pan(0, 3 * ROW),
      Escape: () => this.escape(),
    };
    actions['='] = actions['+'];
    addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || byId('help').open) return;
      const typing = event.target.tagName === 'INPUT';
      if (typing && event.key === 'Enter') this.nextHit(event.shiftKey ? -1 : 1);
      if (!actions[event.key] || (typing && event.key !== 'Escape')) return;
      event.preventDefault();
      actions[event.key]();
    });
    for (const button of document.querySelectorAll('[data-key]')) button.onclick = () => actions[button.dataset.key]();
    byId('find').addEventListener('input', (event) => this.search(event.target.value));
    byId('close').onclick = () => this.closeSandwich();
    byId('threads').addEventListener('toggle', () => this.timeline.draw());
    addEventListener('pointerdown', (event) => { if (!event.target.closest('#menu')) byId('menu').hidden = true; });
  }

  /// Closes what is open: the menu, the search, the zoom.
  escape() {
    if (!byId('menu').hidden) byId('menu').hidden = true;
    else if (this.state.find !== '') {
      byId('find').value = '';
      byId('find').blur();
      this.search('');
    } else this.flame.zoomOut();
  }
}

Profile.unpack(byId('data').textContent).then((profile) => { window.anyperf = new App(profile); },
  (error) => { byId('status').textContent = `This page needs a newer browser: ${error.message}`; });
