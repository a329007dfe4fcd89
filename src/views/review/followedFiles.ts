import type * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import type { Ctx } from '../ctx.ts';

/**
 * Lets the tabs of files follow what is applied, whoever applies it: else a tab of a file that is no longer there would bring it
 * back when it is saved.
 */
export function followFiles({
  store,
  files,
  logger,
}: Pick<Ctx, 'store' | 'files' | 'logger'>): vscode.Disposable {
  return store.onDidResolve(entries => {
    const applied = entries.filter(({ outcome }) => outcome === 'applied');
    if (!applied.some(entry => entry.files.some(({ after }) => after === null))) return;
    const changes = applied.flatMap(({ previewId }) => store.get(previewId)?.changes ?? []);
    import('./moveTabs.ts')
      .then(({ moveTabs }) => moveTabs(changes, files))
      .catch((error: unknown) => logger.error(`Moving tabs failed: ${detailOf(error)}`));
  });
}
