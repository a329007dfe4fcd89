import { choicesAt, classEnd } from './globParts.ts';

/** Part of a glob: a character, any number of characters, or one of several sequences. */
type Part =
  | { readonly kind: 'one' | 'many'; readonly takes: (char: string) => boolean }
  /** Any number of folders, each with the slash after it. */
  | { readonly kind: 'folders' }
  | { readonly kind: 'either'; readonly sequences: readonly (readonly Part[])[] };

type Node =
  | { readonly kind: 'take'; readonly takes: (char: string) => boolean; readonly to: number }
  | { readonly kind: 'split'; readonly to: readonly number[] }
  | { readonly kind: 'end' };

/** A set of nodes in which a path may be, with the transitions by character that were asked for so far. */
interface State {
  readonly nodes: readonly number[];
  readonly isEnd: boolean;
  readonly next: Map<string, State>;
}

/** More states than a glob written by a person needs; beyond that, all are dropped. */
const MAX_STATES = 1_000;

const isAny = (): boolean => true;
const isOfName = (char: string): boolean => char !== '/';

/**
 * Matches whole paths against globs, in a time that grows with the length of the path only: all ways in which it may match are
 * followed at once, where a regular expression would try one after the other.
 */
export class GlobAutomaton {
  readonly #nodes: Node[] = [{ kind: 'end' }];
  readonly #states = new Map<string, State>();
  readonly #start: State;

  constructor(globs: readonly string[]) {
    this.#start = this.#stateOf(globs.map(glob => this.#compile(parse([...glob.replace(/^\.\//, '')]), 0)));
  }

  matches(path: string): boolean {
    let state = this.#start;
    for (const char of path) {
      let next = state.next.get(char);
      if (!next) {
        next = this.#after(state, char);
        state.next.set(char, next);
      }
      if (next.nodes.length === 0) return false;
      state = next;
    }
    return state.isEnd && path !== '';
  }

  /** @returns the node where the parts begin if they continue at `to`. */
  #compile(parts: readonly Part[], to: number): number {
    return parts.reduceRight((next, part) => this.#compilePart(part, next), to);
  }

  #compilePart(part: Part, to: number): number {
    switch (part.kind) {
      case 'one':
        return this.#add({ kind: 'take', takes: part.takes, to });
      case 'many':
        return this.#loop(part.takes, to);
      case 'folders': {
        const slash = this.#add({ kind: 'take', takes: char => char === '/', to });
        return this.#add({ kind: 'split', to: [to, this.#loop(isAny, slash)] });
      }
      case 'either':
        return this.#add({ kind: 'split', to: part.sequences.map(each => this.#compile(each, to)) });
    }
  }

  #loop(takes: (char: string) => boolean, to: number): number {
    const split = this.#nodes.length + 1;
    this.#add({ kind: 'take', takes, to: split });
    return this.#add({ kind: 'split', to: [split - 1, to] });
  }

  #add(node: Node): number {
    return this.#nodes.push(node) - 1;
  }

  #after({ nodes }: State, char: string): State {
    const reached: number[] = [];
    for (const id of nodes) {
      const node = this.#nodes[id];
      if (node?.kind === 'take' && node.takes(char)) reached.push(node.to);
    }
    return this.#stateOf(reached);
  }

  #stateOf(reached: readonly number[]): State {
    const all = new Set(reached);
    // The iteration also reaches nodes that are added meanwhile.
    for (const id of all) {
      const node = this.#nodes[id];
      if (node?.kind === 'split') for (const to of node.to) all.add(to);
    }
    const nodes = [...all].filter(id => this.#nodes[id]?.kind !== 'split').sort((a, b) => a - b);
    const key = nodes.join();
    let state = this.#states.get(key);
    if (!state) {
      if (this.#states.size >= MAX_STATES) {
        for (const { next } of this.#states.values()) next.clear();
        this.#states.clear();
        this.#start.next.clear();
      }
      state = { nodes, isEnd: nodes[0] === 0, next: new Map() };
      this.#states.set(key, state);
    }
    return state;
  }
}

function parse(glob: readonly string[]): readonly Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < glob.length;) {
    const found = specialAt(glob, at);
    const char = glob[at];
    parts.push(...(found?.parts ?? [{ kind: 'one' as const, takes: (each: string) => each === char }]));
    at = found?.end ?? at + 1;
  }
  return parts;
}

/** The construct that begins with a special character, and its end; `undefined` for a literal character. */
function specialAt(
  glob: readonly string[],
  at: number,
): { readonly parts: readonly Part[]; readonly end: number } | undefined {
  switch (glob[at]) {
    case '?':
      return { parts: [{ kind: 'one', takes: isOfName }], end: at + 1 };
    case '*': {
      let end = at + 1;
      while (glob[end] === '*') end++;
      const isName = (at === 0 || glob[at - 1] === '/') && (end === glob.length || glob[end] === '/');
      if (!isName || end - at !== 2) return { parts: [{ kind: 'many', takes: isOfName }], end };
      if (glob[end] === '/') return { parts: [{ kind: 'folders' }], end: end + 1 };
      return { parts: [{ kind: 'many', takes: isAny }], end };
    }
    case '[': {
      const end = classEnd(glob, at);
      if (end === undefined) return undefined;
      return { parts: [{ kind: 'one', takes: classOf(glob.slice(at + 1, end - 1)) }], end };
    }
    case '{': {
      const found = choicesAt(glob, at);
      if (!found || found.choices.length === 1) return undefined;
      return { parts: [{ kind: 'either', sequences: found.choices.map(parse) }], end: found.end };
    }
    default:
      return undefined;
  }
}

function classOf(chars: readonly string[]): (char: string) => boolean {
  const isNegated = chars[0] === '!' || chars[0] === '^';
  const ranges: [low: string, high: string][] = [];
  for (let at = isNegated ? 1 : 0; at < chars.length; at++) {
    const low = chars[at] ?? '';
    const isRange = chars[at + 1] === '-' && at + 2 < chars.length;
    ranges.push([low, isRange ? (chars[at + 2] ?? '') : low]);
    if (isRange) at += 2;
  }
  return char => char !== '/' && ranges.some(([low, high]) => low <= char && char <= high) !== isNegated;
}
