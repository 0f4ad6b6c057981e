// table.js: the functions with their own and total weight, sorted by the column that the user chooses.
'use strict';

const MOST_LINES = 500;

class Table {
  /// `choose` is called with the function of the line that was clicked.
  constructor(element, choose) {
    this.element = element;
    this.choose = choose;
    this.column = 'self';
    element.tHead.addEventListener('click', (event) => {
      const column = event.target.closest('th')?.dataset.column;
      if (column) this.sort(column);
    });
    element.tBodies[0].addEventListener('click', (event) => {
      const line = event.target.closest('tr');
      if (line) choose(Number(line.dataset.func));
    });
  }

  set(tree, hits) {
    this.tree = tree;
    this.hits = hits;
    this.sums = tree.functions();
    this.sort(this.column);
  }

  sort(column) {
    this.column = column;
    for (const head of this.element.tHead.querySelectorAll('th'))
      head.setAttribute('aria-sort', head.dataset.column === column ? (column === 'name' ? 'ascending' : 'descending') : 'none');
    const {profile} = this.tree, {self, total} = this.sums;
    const change = (func) => Math.abs(this.change(func));
    const orders = {
      self: (a, b) => self[NEW][b] - self[NEW][a] || total[NEW][b] - total[NEW][a],
      total: (a, b) => total[NEW][b] - total[NEW][a] || self[NEW][b] - self[NEW][a],
      change: (a, b) => change(b) - change(a),
      name: (a, b) => (profile.name(a) < profile.name(b) ? -1 : 1),
    };
    this.lines = [];
    for (let func = 0; func < profile.functions.length; func++)
      if (total[NEW][func] + total[BASE][func] > 0 && (!this.hits || this.hits[func])) this.lines.push(func);
    this.lines.sort(orders[column]);
    this.fill();
  }

  /// By how much of the whole the own weight has grown.
  change(func) {
    const {tree, sums} = this;
    return tree.share(NEW, sums.self[NEW][func]) - tree.share(BASE, sums.self[BASE][func]);
  }

  fill() {
    const {profile} = this.tree, body = this.element.tBodies[0], percent = (part) => (100 * part).toFixed(2);
    body.replaceChildren(...this.lines.slice(0, MOST_LINES).map((func) => {
      const line = document.createElement('tr');
      line.dataset.func = func;
      const [own, total] = [this.sums.self, this.sums.total].map((sums) => this.tree.share(NEW, sums[NEW][func]));
      const cells = [percent(own), percent(total)];
      if (profile.isDiff) cells.push((this.change(func) >= 0 ? '+' : '') + percent(this.change(func)));
      for (const text of [...cells, profile.name(func)]) line.insertCell().textContent = text;
      line.cells[0].style.setProperty('--part', own);
      line.cells[1].style.setProperty('--part', total);
      line.lastChild.title = `${profile.name(func)}\n${profile.dso(func)}`;
      return line;
    }));
  }
}
