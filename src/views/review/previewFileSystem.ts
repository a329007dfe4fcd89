import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { fenceFor } from '../../agent/model/attachments.ts';
import { bytesOfSide } from '../../agent/preview/fileChange.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { planOf, type Plan } from '../../agent/session/planMode.ts';
import { commandOf, type CommandPlan } from '../../agent/tools/command/runCommand.ts';
import { shownCommand } from '../../agent/tools/command/shownCommand.ts';
import { detailsText } from '../detailsText.ts';
import { escapeInvisible, oneLine } from '../plainText.ts';
import { opaqueUri, parsePreviewUri, type FileUris, type PreviewAddress } from './previewUri.ts';
import type { ProposalEdits } from './proposalEdits.ts';
import { shownChange } from './shownChange.ts';
import type { ShownRevisions } from './shownRevisions.ts';

/**
 * Serves preview documents from the store: `redline-preview://p3/path` is the proposal, and the same URI with `?base` is
 * the content that the proposal is based on. Documents are read-only, except for a proposal that the user is editing.
 * Their bytes are exactly those that the invoker checks and writes.
 */
export class PreviewFileSystem implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #store: PreviewStore;
  readonly #files: FileUris;
  readonly #edits: ProposalEdits;
  readonly #revisions: Pick<ShownRevisions, 'noteRead'>;
  readonly #owned = new DisposableStore();
  readonly #changed = this.#owned.add(new vscode.EventEmitter<vscode.FileChangeEvent[]>());
  readonly onDidChangeFile = this.#changed.event;
  /**
   * The documents that have been read, by preview id. Change events are sent only for these, since a preview may have
   * thousands of files. A closed document stays in the map, because it may be reopened.
   */
  readonly #read = new Map<string, Map<string, vscode.Uri>>();

  constructor(
    store: PreviewStore,
    files: FileUris,
    edits: ProposalEdits,
    revisions: Pick<ShownRevisions, 'noteRead'>,
  ) {
    this.#store = store;
    this.#revisions = revisions;
    this.#files = files;
    this.#edits = edits;
    this.#owned.add(store.onDidChange(preview => this.#announce(preview)));
    this.#owned.add(edits.onDidChange(uri => this.#announceUris([uri])));
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { preview, bytes } = this.#find(uri);
    const ctime = Date.parse(preview.stagedAt);
    return {
      type: vscode.FileType.File,
      ctime,
      // A later revision has a later time, so that open editors reload. While unsaved edits are being dropped the time is
      // early, so that the save that drops them does not conflict.
      mtime: this.#edits.isDropping(uri) ? ctime : ctime + preview.revision,
      size: bytes.length,
      ...(this.#edits.isOpen(uri) ? {} : { permissions: vscode.FilePermission.Readonly }),
    };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    const read = this.#read.get(uri.authority) ?? new Map<string, vscode.Uri>();
    this.#read.set(uri.authority, read.set(uri.toString(), uri));
    const { preview, bytes } = this.#find(uri);
    this.#revisions.noteRead(uri, preview.revision, bytes);
    return bytes;
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    return this.#edits.write(uri, content);
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #find(uri: vscode.Uri): { preview: Preview; bytes: Uint8Array } {
    const address = parsePreviewUri(uri);
    const shown = address && this.#shown(address);
    if (!shown) throw vscode.FileSystemError.FileNotFound(uri);
    const draft = address.side === 'proposal' ? this.#edits.draftOf(uri) : undefined;
    return draft ? { ...shown, bytes: draft } : shown;
  }

  #shown(address: PreviewAddress): { preview: Preview; bytes: Uint8Array } | undefined {
    const { previewId, side, path } = address;
    const opaque = this.#store.get(previewId);
    if (opaque && opaque.kind !== 'files') {
      if (path !== opaqueUri(opaque, side).path) return undefined;
      return { preview: opaque, bytes: Buffer.from(side === 'proposal' ? opaqueDocument(opaque) : '') };
    }
    const shown = shownChange(this.#store, this.#files, address);
    if (!shown) return undefined;
    const content = side === 'proposal' ? shown.change.after : shown.change.before;
    return { preview: shown.preview, bytes: content ? bytesOfSide(content) : new Uint8Array() };
  }

  /** A part is also shown at the URI of the preview that it was split off from. */
  #announce({ id, part }: Preview): void {
    const ids = part ? [id, part.previewId] : [id];
    this.#announceUris(ids.flatMap(each => [...(this.#read.get(each)?.values() ?? [])]));
  }

  #announceUris(uris: readonly vscode.Uri[]): void {
    if (uris.length === 0) return;
    this.#changed.fire(uris.map(uri => ({ type: vscode.FileChangeType.Changed, uri })));
  }
}

/** The document of a preview without file changes: what would run, and which tool staged it. */
function opaqueDocument(preview: Preview): string {
  const plan = planOf(preview);
  if (plan) return planDocument(plan);
  const command = commandOf(preview);
  if (command) return commandDocument(escapeInvisible(preview.label), command);
  const source = vscode.l10n.t('Source tool: {0}', oneLine(preview.sourceToolName));
  const lines = [`# ${escapeInvisible(preview.label)}`, '', source];
  const details = detailsText(preview, 2);
  if (details !== undefined) lines.push('', '```', details, '```');
  lines.push('', vscode.l10n.t('Apply runs this action. Nothing has been done yet.'), '');
  return lines.join('\n');
}

/** A command as it will run, with characters that would hide something shown as escapes. */
function commandDocument(label: string, plan: CommandPlan): string {
  const { t } = vscode.l10n;
  const shown = shownCommand(plan.command);
  const fence = fenceFor(shown);
  const lines = shown.split('\n').length;
  const environment = Object.entries(plan.environment).map(([name, value]) =>
    value === null
      ? t('- {0} is not set', shownOnLine(name))
      : `- ${shownOnLine(name)}=${shownOnLine(value)}`,
  );
  return [
    `# ${label}`,
    '',
    t('Source tool: {0}', 'run_command'),
    '',
    lines === 1 ? t('Command:') : t('Command ({0} lines):', String(lines)),
    '',
    fence,
    shown,
    fence,
    '',
    ...(shown === plan.command
      ? []
      : [t('Invisible and control characters are shown as escapes, such as \\x1b.'), '']),
    t('Folder: {0}', shownOnLine(plan.folder)),
    '',
    t('Shell: {0}', shownOnLine(plan.shell)),
    '',
    t('Environment: that of VS Code and of its terminals, with these differences:'),
    '',
    ...environment,
    '',
    t('Time limit: {0} seconds', String(plan.timeLimit)),
    '',
    t(
      'Apply runs this command in a terminal that you see. It has not run yet, and sees your files as they are on disk.',
    ),
    '',
  ].join('\n');
}

function shownOnLine(text: string): string {
  return shownCommand(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** The plan as the model wrote it, headed by its title. */
function planDocument({ title, text }: Plan): string {
  const hasTitle = text.startsWith(`# ${title}\n`) || text === `# ${title}`;
  return [
    ...(hasTitle ? [] : [`# ${oneLine(title)}`, '']),
    text.trim(),
    '',
    '---',
    '',
    vscode.l10n.t(
      '**Apply** approves this plan. The model then carries it out, staging each change as a preview.',
    ),
    '',
    vscode.l10n.t('**Discard** sends it back with your reason. Nothing has been changed yet.'),
    '',
  ].join('\n');
}
