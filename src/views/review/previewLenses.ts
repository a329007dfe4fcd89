import * as vscode from 'vscode';
import { coalesce, TimeSlice } from '../../agent/base/async.ts';
import { Owner } from '../../agent/base/disposable.ts';
import type { ProposedChange } from '../../agent/hold/preview/pendingFiles.ts';
import { hunksOfChange, textOf, type FileChange } from '../../agent/hold/preview/fileChange.ts';
import type { CheckMark } from '../../agent/hold/preview/previewView.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { conflictBlocks, hasConflict } from '../../agent/hold/preview/rebase/conflictMarkers.ts';
import { inLens } from '../commandRegistry.ts';
import type * as lensTitles from './lensTitles.ts';
import { parsePreviewUri, type FileUris, type PreviewAddress } from '../workspace/previewUri.ts';
import type { ProposalEdits } from './documents/proposalEdits.ts';
import type { RiskMarks } from './riskMarks.ts';
import { shownChange } from './shownChange.ts';

type LensTitles = typeof lensTitles;

/** How long changes of checks and risks are collected, in milliseconds. */
const CHECKS_MS = 300;

/** How many hunks get their lenses before other work gets a chance to run. */
const AT_ONCE = 100;

interface Marks {
  marksOf(preview: Preview): readonly CheckMark[];
  readonly onDidChange: vscode.Event<void>;
}

/**
 * Shows code lenses above each hunk of a proposal and, above the first one, where the diff opens, notes to read before deciding. A
 * lens passes on the revision that it was shown with.
 */
export class PreviewLenses extends Owner implements vscode.CodeLensProvider {
  readonly #store: PreviewStore;
  readonly #files: FileUris;
  readonly #edits: ProposalEdits;
  readonly #checks: Marks;
  readonly #risks: RiskMarks;
  #marks: Promise<unknown> | undefined;
  readonly #changed = this.own(new vscode.EventEmitter<void>());
  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(store: PreviewStore, files: FileUris, edits: ProposalEdits, checks: Marks, risks: RiskMarks) {
    super();
    this.#checks = checks;
    this.#risks = risks;
    this.#store = store;
    this.#files = files;
    this.#edits = edits;
    this.own(store.onDidChange(() => this.#changed.fire()));
    this.own(edits.onDidChange(() => this.#changed.fire()));
    const refresh = coalesce(() => this.#changed.fire(), CHECKS_MS);
    this.own({ dispose: refresh.cancel });
    this.own(checks.onDidChange(refresh));
    this.own(risks.onDidChange(refresh));
    // A document that is saved is clean only after its bytes became a revision. Without changes of the text, VS Code asks
    // for no lenses by itself.
    this.own(
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length === 0 && parsePreviewUri(document.uri)) this.#changed.fire();
      }),
    );
    // A diff that becomes visible again may show outdated lenses that VS Code has cached.
    this.own(
      vscode.window.onDidChangeVisibleTextEditors(editors => {
        if (editors.some(({ document }) => parsePreviewUri(document.uri))) this.#changed.fire();
      }),
    );
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const address = parsePreviewUri(document.uri);
    if (!address || address.side === 'base') return [];
    // Code that makes the lenses and marks whole files is loaded on first use.
    this.#marks ??= import('./wholeFileMarks.ts').then(({ WholeFileMarks }) =>
      this.own(new WholeFileMarks(this.#store, this.#files)),
    );
    const titles = await import('./lensTitles.ts');
    const shown = shownChange(this.#store, this.#files, address);
    const isPending = shown?.preview.state.kind === 'pending';
    // Lenses are placed by the lines of the stored proposal, which an edited document no longer matches.
    const isEdited = this.#edits.isEdited(document);
    // Without edits, the document may still show an older revision.
    const text = isEdited ? document.getText() : textOf(shown?.change.after);
    const conflicts = shown && isPending ? conflictLensesOf(titles, shown, text) : [];
    const last = document.lineCount - 1;
    const plan = shown ? undefined : this.#store.get(address.previewId);
    if (plan?.state.kind === 'pending' && isEdited)
      return titles.editedRow(plan).map(command => lens(0, command));
    if (shown && isPending && isEdited) {
      const first = Math.min(await firstLine(shown.change), last);
      return [...conflicts, ...titles.editedRow(shown.preview).map(command => lens(first, command))];
    }
    const lenses = (await this.#lenses(titles, address)).map(([line, command]) =>
      lens(Math.min(line, last), command),
    );
    if (this.#edits.isOpen(document.uri)) {
      lenses.push(lens(lenses[0]?.range.start.line ?? 0, titles.editableNote()));
    }
    // Settling a conflict comes first: until then, nothing else can be done.
    return [...conflicts, ...lenses];
  }

  async #lenses(
    { hunkLenses, viewOf, warningLenses }: LensTitles,
    address: PreviewAddress,
  ): Promise<[line: number, command: vscode.Command][]> {
    const store = this.#store;
    const at = (line: number, commands: readonly vscode.Command[]): [number, vscode.Command][] =>
      commands.map(command => [line, command]);
    const opaque = store.get(address.previewId);
    if (opaque && opaque.kind !== 'files') {
      const risks = this.#risks.of(opaque);
      const subject = { preview: opaque, change: undefined, hunks: 0, risks };
      return at(0, [...warningLenses(subject, store), ...hunkLenses(subject, store)]);
    }
    const shown = shownChange(store, this.#files, address);
    if (!shown) return [];
    const { preview, change } = shown;
    const hunks = await hunksOfChange(change);
    const first = await firstLine(change);
    const { hiddenDifferences } = await import('./hiddenDifference.ts');
    const subject = {
      preview,
      change,
      hunks: hunks.length,
      hidden: await hiddenDifferences(change),
      checks: this.#checks.marksOf(preview),
      risks: this.#risks.of(preview),
    };
    // Lenses of one line are one row: the warnings are above the line before, if there is one.
    const lenses = [
      ...at(Math.max(0, first - 1), warningLenses(subject, store)),
      ...at(first, hunkLenses(subject, store)),
    ];
    const view = viewOf(subject, store);
    const slice = new TimeSlice();
    for (let n = 1; n < hunks.length; n++) {
      lenses.push(...at(hunks[n]!.afterStart, hunkLenses(subject, store, n, view)));
      if (n % AT_ONCE === 0) await slice.turn();
    }
    return lenses;
  }
}

/** The line of the first change, where the diff opens. */
async function firstLine(change: FileChange): Promise<number> {
  return change.before && change.after ? ((await hunksOfChange(change))[0]?.afterStart ?? 0) : 0;
}

/** The lenses of the conflicts in the text of a proposal. */
function conflictLensesOf(
  { conflictLenses }: LensTitles,
  { preview, change }: ProposedChange,
  text: string,
): vscode.CodeLens[] {
  if (!hasConflict(change)) return [];
  return conflictBlocks(text).flatMap(block =>
    conflictLenses(preview, change, block).map(command => lens(block.start, command)),
  );
}

function lens(line: number, command: vscode.Command): vscode.CodeLens {
  return new vscode.CodeLens(new vscode.Range(line, 0, line, 0), inLens(command));
}
