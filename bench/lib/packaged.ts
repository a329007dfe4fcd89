import { runNode } from '../../scripts/lib/command.mjs';
import { inRepo } from '../../scripts/lib/paths.mjs';

let packaged: Promise<void> | undefined;

/** Packages the extension from its sources, once in a run. */
export function packageOnce(): Promise<void> {
  return (packaged ??= runNode([inRepo('scripts', 'package.mjs')]).then(status => {
    if (status !== 0) throw new Error('Packaging failed.');
  }));
}
