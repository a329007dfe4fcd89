import type { LoadFault } from '../../agent/session/tools/custom/loading/loadProblem.ts';
import type { Localiser } from '../../agent/base/localiser.ts';

/** A sentence for the author of a custom tool: the problem, and how to fix it. `nameOf` shortens a path for display. */
export function problemSentence(fault: LoadFault, l10n: Localiser, nameOf: (file: string) => string): string {
  switch (fault.kind) {
    case 'noDefaultExport':
      return l10n.t('This file has no default export. Export a factory: export default pi => ({ … })');
    case 'noFactory':
      return l10n.t('The default export is not a function. Export a factory: export default pi => ({ … })');
    case 'importFailed':
      return l10n.t('This tool cannot be imported: {0}', fault.message);
    case 'timedOut':
      return l10n.t('This tool was not ready within {0} seconds and is not loaded.', String(fault.seconds));
    case 'factoryThrew':
      return l10n.t('The factory threw: {0}', fault.message);
    case 'invalidTool':
      return l10n.t('Invalid tool at index {0}: {1}.', String(fault.index), fault.message);
    case 'nameTaken':
      return fault.by === undefined
        ? l10n.t('There is already a tool named {0}. Choose another name.', fault.name)
        : l10n.t(
            'There is already a tool named {0}, from {1}. Choose another name.',
            fault.name,
            nameOf(fault.by),
          );
    case 'exitCalled':
      return l10n.t('This tool called {0}, which was blocked. Throw an error instead.', fault.call);
    case 'threwLater':
      return l10n.t('This tool threw an error outside of any call: {0}', fault.message);
  }
}
