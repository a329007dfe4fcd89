/** The output of stages that run side by side, printed as if they ran one after the other. */
export class OutputInTurn {
  /** The stages that have not been printed whole, in their order. The first of them is printed as it comes. */
  #waiting;
  #write;

  /**
   * @param {readonly string[]} names
   * @param {(text: string | Uint8Array) => unknown} write
   */
  constructor(names, write) {
    this.#write = write;
    this.#waiting = names.map(name => ({ name, begun: false, headed: false, ended: false, kept: [] }));
  }

  /** @param {string} name a stage that runs now, although it may have nothing to say for a while */
  begin(name) {
    this.#find(name).begun = true;
    this.#print();
  }

  /**
   * @param {string} name
   * @param {string | Uint8Array} text
   */
  write(name, text) {
    this.#find(name).kept.push(text);
    this.#print();
  }

  /** @param {string} name a stage that writes nothing more */
  end(name) {
    this.#find(name).ended = true;
    this.#print();
  }

  #find(name) {
    return this.#waiting.find(stage => stage.name === name);
  }

  #print() {
    for (;;) {
      const stage = this.#waiting[0];
      if (!stage?.begun) return;
      if (!stage.headed) this.#write(`\n━━ ${stage.name} ━━\n`);
      stage.headed = true;
      for (const text of stage.kept.splice(0)) this.#write(text);
      if (!stage.ended) return;
      this.#waiting.shift();
    }
  }
}
