import type { Preview } from '../preview/preview.ts';
import { buildsOnText, idsOf } from '../preview/resolve/resolveTexts.ts';

/** The line before the result of a call with which an agent proposes something. */
export function heldText(previews: readonly Preview[]): string {
  return (
    `Staged as ${idsOf(previews)}, not on disk, not decided yet.${buildsOnText(previews)} ` +
    'The user reviews it in VS Code. What is decided is told before the result of a later call of yours.'
  );
}
