import * as vscode from 'vscode';
import type { CommandHandlers } from '../../commandRegistry.ts';
import type { Overview } from '../overview.ts';
import { PreviewTargets, type PreviewTargetsOptions } from './previewTargets.ts';
import type { PreviewVotesOptions } from './previewVotes.ts';

export interface PreviewCommandsOptions extends PreviewTargetsOptions, PreviewVotesOptions {
  readonly overview: Overview;
}

/** The commands for whole previews, whether run by lens, editor title, key, tree, chat or palette. */
export function previewCommands(options: PreviewCommandsOptions): CommandHandlers {
  const { store, opener, overview } = options;
  const targets = new PreviewTargets(options);
  // Loaded on first use, after the editor was asked for the revision that it shows.
  const votes = async () => new (await import('./previewVotes.ts')).PreviewVotes(options, targets);
  return {
    'redline.preview.apply': async (...args) => {
      const named = await targets.named(args);
      return (await votes()).vote('apply', args, named);
    },
    'redline.preview.discard': async (...args) => {
      const named = await targets.named(args);
      return (await votes()).vote('discard', args, named);
    },
    'redline.preview.discardWithReason': async (...args) => {
      const named = await targets.named(args);
      return (await votes()).discardWithReason(named);
    },
    'redline.preview.applyAll': async () => (await votes()).applyAll(),
    'redline.preview.discardAll': async () => (await votes()).discardAll(),
    'redline.preview.open': async (...args) => {
      const [first] = await targets.named(args);
      const preview = first && store.get(first.id);
      const path = first?.path ?? (typeof args[1] === 'string' ? args[1] : undefined);
      await (preview ? opener.open(preview, path) : targets.openHead());
    },
    'redline.preview.openFile': async (...args) => {
      const [target = targets.head] = await targets.named(args);
      if (!target) return targets.openHead();
      const clicked = args[0] instanceof vscode.Uri ? args[0] : undefined;
      const { openFileOf } = await import('./openFile.ts');
      await openFileOf(options, target, clicked ?? vscode.window.activeTextEditor?.document.uri);
    },
    'redline.preview.openAll': () => {
      const all = targets.pending();
      return all.length > 1 ? overview.open(all) : targets.openHead();
    },
    'redline.preview.next': () => targets.step(1),
    'redline.preview.previous': () => targets.step(-1),
  };
}
