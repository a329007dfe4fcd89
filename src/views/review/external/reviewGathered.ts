import * as vscode from 'vscode';
import type { Gathered } from '../../../agent/hold/external/gathered.ts';
import { stageGathered, type Elsewhere } from '../../../agent/hold/external/stageGathered.ts';
import type { Ctx } from '../../ctx.ts';
import { oneLine } from '../../plainText.ts';
import { showInfo } from '../../toast.ts';
import { reportLeftOut } from './report.ts';

/**
 * Stages the gathered changes, opens the first preview, and reports those left out.
 * @returns the ids of the previews.
 */
export async function reviewGathered(
  { store, session, rebaser, opener }: Ctx,
  elsewhere: Elsewhere,
  { leftOut, ...gathered }: Gathered,
): Promise<readonly string[]> {
  const staged = await stageGathered(gathered, elsewhere, action => session.stageForUser(action));
  const ids = staged.map(({ id }) => id);
  // A file may have changed since it was read. Previews with conflict markers become stale.
  await rebaser.refresh(ids);
  const [first] = staged;
  if (first) await opener.open(store.get(first.id) ?? first);
  else if (leftOut.length === 0)
    void showInfo(
      vscode.l10n.t(
        'Nothing to review: the files here already contain everything from {0}.',
        oneLine(elsewhere.name(elsewhere.l10n)),
      ),
    );
  reportLeftOut(leftOut);
  return ids;
}
