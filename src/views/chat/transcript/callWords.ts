import { escapeInvisible } from '../../plainText.ts';
import { fill } from '../../../agent/base/localiser.ts';
import type { CallTexts } from '../callTexts.ts';

/** What is said of a finished call. */
export interface SaidCall {
  readonly name: string;
  /** The file that it is about, if it names one. */
  readonly path?: string | undefined;
  /** The `action` of its arguments. */
  readonly action?: unknown;
  readonly failed: boolean;
}

type Kind = Exclude<keyof CallTexts, 'other' | 'failed'>;

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['read_file', 'read'],
  ['search_text', 'searched'],
  ['ast_grep', 'searched'],
  ['list_files', 'searched'],
  ['get_diagnostics', 'checked'],
  ['edit_file', 'changed'],
  ['write_file', 'changed'],
  ['ast_edit', 'changed'],
  ['delete_file', 'deleted'],
  ['rename_file', 'renamed'],
  ['run_command', 'ran'],
  ['resolve', 'voted'],
  ['revert_to_state', 'reverted'],
]);

/** What calls did, in words: `Read 8 files · Searched 2 times`, `Proposed a change to cart.ts`. */
export function sayCalls(calls: readonly SaidCall[], texts: CallTexts): string {
  const groups = new Map<string, SaidCall[]>();
  for (const call of calls) {
    const kind = kindOf(call) ?? call.name;
    const group = groups.get(kind);
    if (group) group.push(call);
    else groups.set(kind, [call]);
  }
  const said = [...groups.values()].map(group => sayGroup(group, texts));
  const failed = calls.filter(call => call.failed).length;
  return [...said, ...(failed === 0 ? [] : [fill(texts.failed, failed)])].join(' · ');
}

function sayGroup(group: readonly SaidCall[], texts: CallTexts): string {
  const [first] = group;
  const kind = first && kindOf(first);
  if (!first || !kind) return texts.other.count(group.length, first?.name ?? '');
  const { of, count } = texts[kind];
  const files = new Set(group.map(({ path }) => path));
  const [path] = files;
  if (of !== undefined && files.size === 1 && path !== undefined) return fill(of, nameOf(path));
  // Several calls may be about one file.
  return count(of === undefined || files.has(undefined) ? group.length : files.size);
}

function kindOf({ name, action }: SaidCall): Kind | undefined {
  const kind = KINDS.get(name);
  return kind === 'voted' && action === 'discard' ? 'votedDiscard' : kind;
}

function nameOf(path: string): string {
  return escapeInvisible(path.slice(path.lastIndexOf('/') + 1));
}
