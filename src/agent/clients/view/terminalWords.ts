import * as path from 'node:path';
import { countText, type Localiser } from '../../base/localiser.ts';
import { pathsOf, type Preview } from '../../hold/preview/preview.ts';
import type { AgentView } from '../../sandbox/agentView/agentView.ts';
import type { Stayed } from '../../sandbox/agentView/stayed.ts';
import { isConnectedHere } from '../setUp/knownAgents.ts';
import { firstOf } from './fileWords.ts';
import type { LiveView } from './liveView.ts';
import { pendingOf } from './terminalSessions.ts';
import type { AgentViewsHost } from './viewsHost.ts';
import type { ViewOwner } from './viewOwner.ts';

/** The most paths that are named. */
const MAX_NAMED = 10;

/**
 * The lines for the person at the terminal before the agent starts.
 * @param isWalled from a copy, it cannot write into the folders themselves
 */
export async function greeting(
  view: AgentView,
  { agent: { name }, sessionId }: ViewOwner,
  isWalled: boolean,
  { l10n, folders, store }: Pick<AgentViewsHost, 'l10n' | 'folders' | 'store'>,
): Promise<readonly string[]> {
  const isConnected = await isConnectedHere(
    name,
    folders().map(({ fsPath }) => fsPath),
  );
  const status = await view.statusFile();
  const { own, others } = pendingOf(name, sessionId, store.open);
  const filesIn = (previews: readonly Preview[]): string =>
    firstOf([...new Set(previews.flatMap(pathsOf))], MAX_NAMED);
  return [
    ...(view.mounts.copies.length === 0
      ? []
      : [
          isWalled
            ? l10n.t('It works in a copy; it cannot write into the workspace folder itself.')
            : l10n.t('It works in a copy; nothing stops it from writing elsewhere by an absolute path.'),
        ]),
    l10n.t(
      'Changes made here become previews in VS Code; nothing is on disk until you apply it. Your decisions are in {0}.',
      status.isInFolder ? path.basename(status.at) : status.at,
    ),
    ...(own.length === 0
      ? []
      : [l10n.t('It starts with the pending changes from its last terminal: {0}.', filesIn(own))]),
    ...(others.length === 0
      ? []
      : [
          l10n.t(
            'In other terminals, {0} has pending changes that are not here: {1}.',
            name,
            filesIn(others),
          ),
        ]),
    ...(isConnected
      ? [
          l10n.t(
            '{0} is connected in this workspace, which takes its edit tools away in this terminal, too. To let it edit here, undo the preview that connected it.',
            name,
          ),
        ]
      : []),
    ...(view.unreadable.length === 0
      ? []
      : [
          l10n.t(
            'These cannot be read, and are not there: {0}',
            view.unreadable.slice(0, MAX_NAMED).join(', '),
          ),
        ]),
    ...view.foreign.map(folder =>
      l10n.t('In {0}, files belong to another owner or group, and cannot be changed here.', folder),
    ),
  ];
}

/**
 * The lines for the person at the terminal once the agent has ended.
 * @param folder where changes are kept if there are too many to review
 */
export function farewell(
  { open, notTaken }: Pick<LiveView, 'open' | 'notTaken'>,
  folder: string,
  l10n: Localiser,
): readonly string[] {
  const count = (forms: string, of: number): string => countText(forms, l10n)(of);
  return [
    ...(open.length === 0
      ? []
      : [
          count(
            l10n.t('1 preview waits for you in VS Code.|{0} previews wait for you in VS Code.'),
            open.length,
          ),
        ]),
    ...(notTaken.commits === 0
      ? []
      : [
          count(
            l10n.t(
              '1 commit was not taken; what it contains is in the previews.|{0} commits were not taken; what they contain is in the previews.',
            ),
            notTaken.commits,
          ),
        ]),
    ...(notTaken.leftOut.length === 0
      ? []
      : [
          l10n.t(
            'Not in the previews: {0}',
            [...new Set(notTaken.leftOut.map(({ path: at }) => at))].slice(0, MAX_NAMED).join(', '),
          ),
        ]),
    ...(notTaken.stayed.length === 0
      ? []
      : [l10n.t('Stayed in the view, since git ignores it: {0}', stayedText(notTaken.stayed, l10n))]),
    ...(notTaken.isTooMuch
      ? [
          l10n.t(
            'More than 2,000 files or 50 MB were changed, which is more than can be reviewed at once. They are kept in {0}.',
            folder,
          ),
        ]
      : []),
  ];
}

/** The files that stayed in a view, in a line: `.env, dist/ (812 files)`. */
export function stayedText(stayed: readonly Stayed[], l10n: Localiser): string {
  const count = (files: number): string => countText(l10n.t('1 file|{0} files'), l10n)(files);
  const named = stayed.map(({ path, files }) => (files === undefined ? path : `${path} (${count(files)})`));
  return firstOf(named, MAX_NAMED);
}
