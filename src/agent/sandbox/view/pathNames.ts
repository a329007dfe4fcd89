import type { ForeignFile } from '../../hold/external/foreignChange.ts';
import { heldBack } from '../../hold/text/occurrences.ts';
import { named } from '../../base/safeName.ts';

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

  /** Sentences for the model on files that a command has left with paths of the copies in them. */
  told(effects: readonly ForeignFile[]): readonly string[] {
    return this.#names.flatMap(([from, to]) => {
      const has = ({ theirs }: ForeignFile): boolean =>
        theirs !== null &&
        ('link' in theirs ? theirs.link.includes(from) : Buffer.from(theirs).includes(from));
      const paths = effects.filter(has).map(({ path }) => path);
      return paths.length === 0
        ? []
        : [
            `With the path of the copy in them, which leads nowhere later: ${named(paths)}. The copy is ${from}, and stands for ${to}. Use relative paths.`,
          ];
    });
  }

  end(): void {
    if (this.#held !== '') this.#add(this.#held);
    this.#held = '';
  }
}
