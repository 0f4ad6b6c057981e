// profile.js: the data of the page: unpacks it, and makes trees of calls from it.
//
// A stack is a node of a trie: its function, and the node of its caller, which has a smaller number. A row is what one
// thread spent in one stack during one slot of time; a page of two profiles has the threads of both.
'use strict';

const NEW = 0, BASE = 1;  // the side of a thread: of the profile, or of the one that it is compared with

class Profile {
  static async unpack(base64) {
    const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    return new Profile(new Uint8Array(await new Response(stream).arrayBuffer()));
  }

  constructor(bytes) {
    let at = 0;
    const number = () => {
      let value = 0;
      for (let unit = 1;; unit *= 128) {
        const byte = bytes[at++];
        value += (byte & 127) * unit;
        if (byte < 128) return value;
      }
    };
    const column = (Type, length, step = (value) => value) => {
      const values = new Type(length);
      for (let i = 0; i < length; i++) values[i] = step(number(), i, values);
      return values;
    };
    const length = number();
    Object.assign(this, JSON.parse(new TextDecoder().decode(bytes.subarray(at, at + length))));
    at += length;
    const nodes = number();
    this.parent = column(Int32Array, nodes, (value, i) => (value === 0 ? -1 : i - value));
    this.func = column(Uint32Array, nodes);
    const rows = number();
    this.rowNode = column(Uint32Array, rows);
    this.rowThread = column(Uint32Array, rows, (value, i, values) => value + (i > 0 ? values[i - 1] : 0));
    this.rowSlot = column(Uint16Array, rows);
    this.rowCount = column(Float64Array, rows);
    this.rowWeight = column(Float64Array, rows);
    this.isDiff = this.threads.some((thread) => thread.side === BASE);
  }

  /// Whether a row passes the filter {thread: number or -1, from, to: slots}.
  passes(row, filter) {
    return (filter.thread < 0 || filter.thread === this.rowThread[row]) &&
           filter.from <= this.rowSlot[row] && this.rowSlot[row] < filter.to;
  }

  name(func) { return this.functions[func][0]; }
  dso(func) { return this.dsos[this.functions[func][1]]; }

  /// The calls from the outermost function inwards. `changes` has sets of functions: hidden, collapsed; of dsos: merged.
  tree(filter, changes, measure) {
    const tree = new Tree(this), view = new Int32Array(this.parent.length);
    for (let node = 0; node < view.length; node++) {
      const caller = this.parent[node] < 0 ? tree.root : view[this.parent[node]], func = this.func[node];
      const above = caller > 0 ? tree.func[caller] : -1;
      if (caller < 0 || changes.hidden.has(func)) view[node] = -1;
      else if (above === func && changes.collapsed.has(func)) view[node] = caller;
      else if (above >= 0 && this.isMerged(above, func, changes)) view[node] = caller;
      else view[node] = tree.child(caller, func);
    }
    this.eachRow(filter, measure, (row, side, weight) => {
      const node = view[this.rowNode[row]];
      if (node >= 0) tree.add(node, side, this.rowCount[row], weight);
    });
    return tree.sum();
  }

  isMerged(above, func, changes) {
    const dso = this.functions[func][1];
    return changes.merged.has(dso) && this.functions[above][1] === dso;
  }

  eachRow(filter, measure, visit) {
    for (let row = 0; row < this.rowNode.length; row++) {
      if (!this.passes(row, filter)) continue;
      const weight = measure === 'samples' ? this.rowCount[row] : this.rowWeight[row];
      visit(row, this.threads[this.rowThread[row]].side, weight);
    }
  }
}

/// A tree of calls with the weights of both sides. Node 0 is the root, which is no function.
class Tree {
  constructor(profile) {
    this.profile = profile;
    this.root = 0;
    this.parent = [-1];
    this.func = [-1];
    this.self = [[0], [0]];
    this.total = [[0], [0]];
    this.count = [[0], [0]];  // samples, for significance
    this.children = new Map();
  }

  child(parent, func) {
    const key = parent * this.profile.functions.length + func;
    let node = this.children.get(key);
    if (node === undefined) {
      node = this.parent.push(parent) - 1;
      this.func.push(func);
      for (const side of [NEW, BASE])
        for (const values of [this.self, this.total, this.count]) values[side].push(0);
      this.children.set(key, node);
    }
    return node;
  }

  add(node, side, count, weight) {
    this.self[side][node] += weight;
    this.total[side][node] += weight;
    this.count[side][node] += count;
  }

  /// Adds what is called to its callers, once all weights are there.
  sum() {
    for (let node = this.parent.length - 1; node > 0; node--)
      for (const side of [NEW, BASE]) {
        this.total[side][this.parent[node]] += this.total[side][node];
        this.count[side][this.parent[node]] += this.count[side][node];
      }
    return this;
  }

  /// The same calls from the inside out: the children of a function are its callers.
  inverted() {
    const result = new Tree(this.profile);
    this.eachOwn((node, side, weight, count) => {
      let at = result.root;
      for (let each = node; each > 0; each = this.parent[each]) at = result.child(at, this.func[each]);
      result.add(at, side, count, weight);
    });
    return result.sum();
  }

  /// The callers of a function, or what it calls, as a tree below it. A recursion counts from its outermost call.
  around(func, callers) {
    const result = new Tree(this.profile);
    this.eachOwn((node, side, weight, count) => {
      const path = [];
      for (let each = node; each > 0; each = this.parent[each]) path.push(this.func[each]);
      const outermost = path.lastIndexOf(func);
      if (outermost < 0) return;
      const way = callers ? path.slice(outermost) : path.slice(0, outermost + 1).reverse();
      result.add(way.reduce((at, each) => result.child(at, each), result.root), side, count, weight);
    });
    return result.sum();
  }

  /// Each node that has a weight of its own. `count` is that of the node's own samples.
  eachOwn(visit) {
    const own = [Float64Array.from(this.count[NEW]), Float64Array.from(this.count[BASE])];
    for (let node = 1; node < this.parent.length; node++)
      for (const side of [NEW, BASE]) own[side][this.parent[node]] -= this.count[side][node];
    for (let node = 1; node < this.parent.length; node++)
      for (const side of [NEW, BASE])
        if (this.self[side][node] > 0) visit(node, side, this.self[side][node], own[side][node]);
  }

  /// A part of the whole of a side, from 0 to 1.
  share(side, weight) {
    return this.total[side][0] > 0 ? weight / this.total[side][0] : 0;
  }

  /// The width of a node: its weight, or in a comparison its mean share, so that what has vanished is seen, too.
  width(node) {
    if (!this.profile.isDiff) return this.total[NEW][node];
    return (this.share(NEW, this.total[NEW][node]) + this.share(BASE, this.total[BASE][node])) / 2;
  }

  /// How the share has changed, and whether more than by chance: two proportions differ by over two standard errors.
  change(node) {
    const [now, before] = [NEW, BASE].map((side) => this.share(side, this.total[side][node]));
    const [n, m] = [this.count[NEW][0], this.count[BASE][0]];
    const [a, b] = [this.count[NEW][node], this.count[BASE][node]];
    const mean = (a + b) / (n + m), error = Math.sqrt(mean * (1 - mean) * (1 / n + 1 / m));
    return {now, before, significant: n > 0 && m > 0 && error > 0 && Math.abs(a / n - b / m) > 2 * error};
  }

  /// Own and total weight of each function. A recursion counts once.
  functions() {
    const size = this.profile.functions.length;
    const result = {self: [NEW, BASE].map(() => new Float64Array(size)), total: [NEW, BASE].map(() => new Float64Array(size))};
    for (let node = 1; node < this.parent.length; node++) {
      const func = this.func[node];
      let above = this.parent[node];
      while (above > 0 && this.func[above] !== func) above = this.parent[above];
      for (const side of [NEW, BASE]) {
        result.self[side][func] += this.self[side][node];
        if (above <= 0) result.total[side][func] += this.total[side][node];
      }
    }
    return result;
  }

  path(node) {
    const names = [];
    for (let each = node; each > 0; each = this.parent[each]) names.push(this.profile.name(this.func[each]));
    return names.reverse();
  }
}
