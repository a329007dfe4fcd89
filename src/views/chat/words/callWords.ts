import * as l10n from '@vscode/l10n';
import { fill } from '../../../agent/base/localiser.ts';
import { escapeInvisible, plural } from '../../plainText.ts';

/** A finished call, as told to the user. */
export interface SaidCall {
  readonly name: string;
  /** The file that it is about, if it names one. */
  readonly path?: string | undefined;
  readonly failed: boolean;
  readonly interrupted?: boolean;
}

type Kind =
  | 'read'
  | 'searched'
  | 'checked'
  | 'tested'
  | 'changed'
  | 'deleted'
  | 'renamed'
  | 'ran'
  | 'reverted'
  | 'planned'
  | 'fetched'
  | 'listened'
  | 'looked'
  | 'asked';

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['read_file', 'read'],
  ['search_text', 'searched'],
  ['ast_grep', 'searched'],
  ['list_files', 'searched'],
  ['symbols', 'searched'],
  ['git', 'searched'],
  ['get_diagnostics', 'checked'],
  ['run_checks', 'tested'],
  ['edit_file', 'changed'],
  ['write_file', 'changed'],
  ['ast_edit', 'changed'],
  ['rename_symbol', 'changed'],
  ['delete_file', 'deleted'],
  ['rename_file', 'renamed'],
  ['run_command', 'ran'],
  ['revert_to_state', 'reverted'],
  ['todo', 'planned'],
  ['fetch_url', 'fetched'],
  ['command_output', 'listened'],
  ['pending', 'looked'],
  ['ask_user', 'asked'],
]);

/** Sums up calls in words: `Read 8 files · Searched 2 times`, `Proposed a change to cart.ts`. */
export function sayCalls(calls: readonly SaidCall[]): string {
  const groups = new Map<string, SaidCall[]>();
  for (const call of calls) {
    const kind = KINDS.get(call.name) ?? call.name;
    const group = groups.get(kind);
    if (group) group.push(call);
    else groups.set(kind, [call]);
  }
  const said = [...groups.values()].map(sayGroup);
  const failed = calls.filter(call => call.failed).length;
  const interrupted = calls.filter(call => call.interrupted).length;
  return [
    ...said,
    ...(failed === 0 ? [] : [l10n.t('{0} failed', failed)]),
    ...(interrupted === 0 ? [] : [l10n.t('{0} interrupted', interrupted)]),
  ].join(' · ');
}

function sayGroup(group: readonly SaidCall[]): string {
  const [first] = group;
  const kind = first && KINDS.get(first.name);
  if (!first || !kind)
    return plural(l10n.t('Called {1}|Called {1} {0} times'), group.length, first?.name ?? '');
  const { of, forms } = textsOf(kind);
  const files = new Set(group.map(({ path }) => path));
  const [path] = files;
  if (of !== undefined && files.size === 1 && path !== undefined) return fill(of, fileNameOf(path));
  // Several calls may be about one file.
  return plural(forms, of === undefined || files.has(undefined) ? group.length : files.size);
}

/** Says what a running call is doing: `Running the checks`. */
export function sayRunning(name: string): string {
  switch (KINDS.get(name)) {
    case 'read':
      return l10n.t('Reading a file');
    case 'searched':
      return l10n.t('Searching');
    case 'checked':
      return l10n.t('Checking the Problems');
    case 'tested':
      return l10n.t('Running the checks');
    case 'changed':
      return l10n.t('Proposing a change');
    case 'deleted':
      return l10n.t('Proposing to delete a file');
    case 'renamed':
      return l10n.t('Proposing to rename a file');
    case 'ran':
      return l10n.t('Running a command');
    case 'reverted':
      return l10n.t('Going back');
    case 'planned':
      return l10n.t('Updating the to-do list');
    case 'fetched':
      return l10n.t('Reading a web page');
    case 'listened':
      return l10n.t('Looking at a running command');
    case 'looked':
      return l10n.t('Looking at its own changes');
    case 'asked':
      return l10n.t('Asking you a question');
    case undefined:
      return l10n.t('Calling {0}', name);
  }
}

/** The texts for a count and, if the kind names files, for calls on a single file. */
function textsOf(kind: Kind): { readonly forms: string; readonly of?: string } {
  switch (kind) {
    case 'read':
      return { forms: l10n.t('Read 1 file|Read {0} files'), of: l10n.t('Read {0}') };
    case 'searched':
      return { forms: l10n.t('Searched once|Searched {0} times') };
    case 'checked':
      return { forms: l10n.t('Checked the Problems|Checked the Problems {0} times') };
    case 'tested':
      return { forms: l10n.t('Ran the checks|Ran the checks {0} times') };
    case 'changed':
      return {
        forms: l10n.t('Proposed a change|Proposed {0} changes'),
        of: l10n.t('Proposed a change to {0}'),
      };
    case 'deleted':
      return {
        forms: l10n.t('Proposed to delete a file|Proposed to delete {0} files'),
        of: l10n.t('Proposed to delete {0}'),
      };
    case 'renamed':
      return { forms: l10n.t('Proposed to rename a file|Proposed to rename {0} files') };
    case 'ran':
      return { forms: l10n.t('Proposed a command|Proposed {0} commands') };
    case 'fetched':
      return { forms: l10n.t('Read a web page|Read {0} web pages') };
    case 'listened':
      return { forms: l10n.t('Looked at a running command|Looked at running commands {0} times') };
    case 'looked':
      return { forms: l10n.t('Looked at its own changes|Looked at its own changes {0} times') };
    case 'asked':
      return { forms: l10n.t('Asked you a question|Asked you {0} questions') };
    case 'planned':
      return { forms: l10n.t('Updated the to-do list|Updated the to-do list {0} times') };
    case 'reverted':
      return { forms: l10n.t('Went back|Went back {0} times') };
  }
}

/** The last part of a path, as it is shown. */
export function fileNameOf(path: string): string {
  return escapeInvisible(path.slice(path.lastIndexOf('/') + 1));
}
