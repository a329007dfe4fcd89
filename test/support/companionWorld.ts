import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { english } from '../../src/agent/base/localiser.ts';
import { Emitter } from '../../src/agent/base/event.ts';
import { silentLogger } from '../../src/agent/base/logger.ts';
import type {
  CompanionHost,
  EditorProblem,
  EditorSelection,
  OpenEditor,
} from '../../src/agent/clients/companions/companionHost.ts';
import { Overlay } from '../../src/agent/preview/overlay.ts';
import { textOf } from '../../src/agent/preview/pendingAction.ts';
import type { Preview, PreviewState } from '../../src/agent/preview/preview.ts';
import { PreviewStore } from '../../src/agent/preview/previewStore.ts';
import { Rebaser } from '../../src/agent/preview/rebase/rebaser.ts';
import { Invoker } from '../../src/agent/preview/resolve/invoker.ts';
import { resolvePart } from '../../src/agent/preview/resolve/resolvePart.ts';
import type { ModelAuthority } from '../../src/agent/preview/resolveSettings.ts';
import { changeOf, sideOfText } from '../../src/agent/preview/fileChange.ts';
import { DiskWorkspace } from './diskWorkspace.ts';
import { MemoryPreviewLog } from './testSession.ts';

/** A text with three places that are far enough apart for three hunks. */
export const LINES = Array.from({ length: 30 }, (_, i) => `line ${i + 1}\n`).join('');

/** The text with these lines in capitals. */
export function shouting(text: string, ...lines: number[]): string {
  return lines.reduce((all, line) => all.replace(`line ${line}\n`, `LINE ${line}\n`), text);
}

/** A workspace on a real folder, in which terminals' agents propose diffs, and a person who votes. */
export class CompanionWorld {
  readonly folder: string;
  readonly log = new MemoryPreviewLog();
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly rebaser: Rebaser;
  readonly host: CompanionHost;
  authority: ModelAuthority = 'recommend';
  readonly editor = {
    isTrusted: true,
    changed: new Emitter<void>(),
    editors: [] as OpenEditor[],
    selected: undefined as EditorSelection | undefined,
    problems: [] as EditorProblem[],
    shown: [] as string[],
  };

  constructor(folder: string, log?: MemoryPreviewLog) {
    this.folder = folder;
    this.log = log ?? this.log;
    const workspace = new DiskWorkspace(folder);
    this.store = new PreviewStore(this.log, error => assert.fail(String(error)));
    this.invoker = new Invoker(this.store, workspace, () => this.authority);
    this.rebaser = new Rebaser({ store: this.store, workspace, logger: silentLogger });
    const { editor } = this;
    this.host = {
      store: this.store,
      invoker: this.invoker,
      overlay: new Overlay(this.store),
      l10n: english,
      workspace,
      logger: silentLogger,
      version: '1.2.3',
      folders: () => [folder],
      patienceMs: 400,
      silenceMs: 100,
      editor: {
        isTrusted: true,
        onDidChange: editor.changed.event,
        openEditors: () => editor.editors,
        selection: () => editor.selected,
        problems: file => editor.problems.filter(each => file === undefined || each.file === file),
        show: async file => void editor.shown.push(file),
      },
    };
  }

  file(name: string): string {
    return path.join(this.folder, name);
  }

  put(name: string, text: string): void {
    writeFileSync(this.file(name), text);
  }

  text(name: string): string {
    return readFileSync(this.file(name), 'utf8');
  }

  /** The only open preview. */
  get pending(): Preview {
    const open = [...this.store.open];
    assert.equal(open.length, 1, `open: ${open.map(({ id }) => id).join()}`);
    return open[0] ?? assert.fail();
  }

  /** Settles once this many previews are open. */
  untilOpen(count = 1): Promise<void> {
    return this.until(() => this.store.openCount === count);
  }

  /** Settles once this holds, which is looked at after each change of a preview. */
  until(holds: () => boolean): Promise<void> {
    return new Promise(resolve => {
      const look = (): void => {
        if (!holds()) return;
        following.dispose();
        resolve();
      };
      const following = this.store.onDidChange(look);
      look();
    });
  }

  state(id = 'p1'): PreviewState {
    return this.store.get(id)?.state ?? assert.fail(`no preview ${id}`);
  }

  /** What a person does. @returns what they are told. */
  async vote(action: 'apply' | 'discard', id = 'p1', reason = 'as I like'): Promise<string> {
    const { revision } = this.store.get(id) ?? assert.fail(`no preview ${id}`);
    return textOf(await this.invoker.resolve({ id, revision, action, reason, actor: 'human' }));
  }

  async voteHunk(action: 'apply' | 'discard', hunk: number, id = 'p1'): Promise<string> {
    const { revision, changes } = this.store.get(id) ?? assert.fail(`no preview ${id}`);
    const request = { id, revision, action, reason: `hunk ${hunk}`, actor: 'human' as const };
    return textOf(await resolvePart(this, request, { path: changes?.[0]?.path ?? '', hunk }));
  }

  /** What a person makes of the proposal in an editor. */
  async edit(text: string, id = 'p1'): Promise<void> {
    const preview = this.store.get(id) ?? assert.fail(`no preview ${id}`);
    const [change] = preview.changes ?? [];
    const edited = change && changeOf(change.path, change.before, sideOfText(text));
    await this.store.revise(id, edited ? [edited] : [], preview.dependsOn, 'user');
  }

  /** The ledger, one line for each attempt. */
  get ledger(): string[] {
    return this.store
      .ledger()
      .map(({ previewId, action, outcome, actor }) => `${previewId} ${actor} ${action} ${outcome}`);
  }
}
