import { heldBack } from '../../text/occurrences.ts';

/** Writes paths of the copies in an output as those of the workspace, also where a chunk ends within one. */
export class PathNames {
  readonly #names: readonly (readonly [from: string, to: string])[];
  readonly #add: (text: string) => void;
  #held = '';

  constructor(names: readonly (readonly [from: string, to: string])[], add: (text: string) => void) {
    this.#names = names;
    this.#add = add;
  }

  add(chunk: string): void {
    let text = this.#held + chunk;
    for (const [from, to] of this.#names) text = text.replaceAll(from, to);
    const held = Math.max(...this.#names.map(([from]) => heldBack(text, from)));
    this.#held = held === 0 ? '' : text.slice(-held);
    const ready = held === 0 ? text : text.slice(0, -held);
    if (ready !== '') this.#add(ready);
  }

  end(): void {
    if (this.#held !== '') this.#add(this.#held);
    this.#held = '';
  }
}
