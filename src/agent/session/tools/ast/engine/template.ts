import {
  columns,
  isWithin,
  leadAt,
  tabsFor,
  type FileLayout,
  type Layout,
  type Range,
} from './fileLayout.ts';

/** The code that the variables of a pattern matched. */
export interface Captures {
  single(name: string): Range | undefined;
  /** From the first to the last of the nodes that an ellipsis matched; `undefined` when it matched none. */
  multiple(name: string): Range | undefined;
}

type Part =
  | { readonly text: string }
  /** A line begins with this white space. In a string it stays as it is. */
  | { readonly lead: string; readonly ending: string; readonly isInString: boolean }
  | { readonly variable: string; readonly multiple: boolean; readonly lead: string };

/**
 * A rewrite, from which the replacement of each match is made as the ast-grep CLI makes it: captured code of several
 * lines keeps its relative indentation, moved to the column of its variable, and the whole replacement is indented like
 * the line in which the match begins.
 *
 * The CLI knows only files with LF and spaces. Here, replacements get the line endings of the file; in a file indented with tabs, a
 * step of the rewrite's indentation becomes a tab; in any other, a tab of the rewrite becomes a step of the file's; and no line
 * that begins within a string is indented.
 *
 * A variable has capital letters, digits and underscores and does not begin with a digit; every other `$` stands for itself. A
 * literal `$HOME` is written `$$HOME`, unless the pattern binds `$HOME`.
 */
export class Template {
  /** The variables of the rewrite that the pattern does not bind, as they are written. */
  readonly unbound: readonly string[];
  readonly #parts: readonly Part[];
  /** How many spaces are one step of the rewrite's own indentation. */
  readonly #step: number;

  /**
   * @param bound the result of {@link boundVariables} for the pattern.
   * @param strings the ranges of the rewrite's multi-line strings
   */
  constructor(rewrite: string, bound: ReadonlySet<string>, strings: readonly Range[] = []) {
    const unbound = new Set<string>();
    this.#parts = parse(rewrite, bound, strings, unbound);
    this.unbound = [...unbound];
    const widths = this.#parts.map(part =>
      'ending' in part && !part.isInString ? columns(part.lead, { usesTabs: false }) : 0,
    );
    this.#step = widths.reduce(commonDivisor, 0);
  }

  /**
   * The replacement for a match that begins at `start` of `source`. A variable that captured no code is left out.
   * @param onCaptured called for each variable in it, with its place in the replacement
   */
  render(
    source: string,
    start: number,
    captures: Captures,
    file: FileLayout,
    onCaptured?: (start: number, end: number) => void,
  ): string {
    let known: Layout | undefined;
    const layout = (): Layout => (known ??= file.at(start));
    let text = '';
    for (const part of this.#parts) {
      if ('text' in part) text += part.text;
      else if ('variable' in part) {
        const from = text.length;
        text += this.#captured(source, part, captures, file, layout);
        onCaptured?.(from, text.length);
      } else {
        const place = layout();
        const { lineEnding, usesTabs, indent } = place;
        const lead = this.#leadIn(part.lead, place);
        text += lineEnding ?? part.ending;
        if (part.isInString) text += part.lead;
        else text += usesTabs ? tabsFor(indent + columns(lead, place)) : ' '.repeat(indent) + lead;
      }
    }
    return text;
  }

  #captured(
    source: string,
    { variable, multiple, lead }: Extract<Part, { variable: string }>,
    captures: Captures,
    file: FileLayout,
    layout: () => Layout,
  ): string {
    const range = multiple ? captures.multiple(variable) : captures.single(variable);
    if (!range) return '';
    const text = source.slice(range.start, range.end);
    if (!text.includes('\n')) return text;
    const { usesTabs, indent } = layout();
    const from = columns(file.leadAt(range.start), layout());
    const by = columns(this.#leadIn(lead, layout()), layout()) - from;
    if (by === 0 && indent === 0) return text;
    const mayHoldStrings = file.mayHoldStrings(range);
    let at = range.start;
    const lines = text.split('\n').map((line, index) => {
      const start = at;
      at += line.length + 1;
      return index === 0 || (mayHoldStrings && file.isInString(start))
        ? line
        : moved(moved(line, by, usesTabs), indent, usesTabs);
    });
    return lines.join('\n');
  }

  /** White space of the rewrite in the file's own style. */
  #leadIn(lead: string, place: Layout): string {
    if (place.usesTabs && this.#step > 0)
      return lead.replace(
        / +/g,
        ({ length }) => '\t'.repeat(Math.floor(length / this.#step)) + ' '.repeat(length % this.#step),
      );
    const unit = place.usesTabs || !lead.includes('\t') ? undefined : place.unit();
    return unit === undefined ? lead : lead.replaceAll('\t', ' '.repeat(unit));
  }
}

function parse(
  rewrite: string,
  bound: ReadonlySet<string>,
  strings: readonly Range[],
  unbound: Set<string>,
): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const match of rewrite.matchAll(/(\${1,3})([A-Z_][A-Z0-9_]*)|(\r?\n)([ \t]*)/g)) {
    const [all, sigils = '', variable = '', ending, lead = ''] = match;
    const multiple = sigils.length === 3;
    parts.push({ text: rewrite.slice(at, match.index) });
    at = match.index + all.length;
    if (ending !== undefined)
      parts.push({ lead, ending, isInString: isWithin(strings, match.index + ending.length) });
    else if (bound.has(`${multiple ? '$$$' : '$'}${variable}`))
      parts.push({
        variable,
        multiple,
        lead: leadAt(rewrite, match.index, start => isWithin(strings, start)),
      });
    else if (sigils.length === 2) parts.push({ text: `$${variable}` });
    else unbound.add(all);
  }
  parts.push({ text: rewrite.slice(at) });
  return parts;
}

/** Moves a line to the right, or to the left; one that has too little indentation for that stays. */
function moved(line: string, by: number, usesTabs: boolean): string {
  if (by === 0) return line;
  const [lead = ''] = /^[ \t]*/.exec(line) ?? [];
  const width = columns(lead, { usesTabs });
  if (width + by < 0) return line;
  if (usesTabs) return tabsFor(width + by) + line.slice(lead.length);
  return by > 0 ? ' '.repeat(by) + line : line.slice(-by);
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
