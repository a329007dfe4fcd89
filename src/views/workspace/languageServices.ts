import { posix } from 'node:path';
import * as vscode from 'vscode';
import { untilAborted } from '../../agent/base/async.ts';
import { beginningOf } from '../../agent/base/cutText.ts';
import { messageOf, ToolError } from '../../agent/base/errors.ts';
import type {
  DeclaredSymbol,
  FoundPlace,
  LanguageServices,
  Position,
  RangeEdit,
  RenameAnswer,
} from '../../agent/session/tools/symbols/languageServices.ts';
import { pathOfUri, type WorkspaceNames } from './vsCodeProblems.ts';

/** How long a language service may take, in milliseconds: it may read a whole project first. */
const PATIENCE = 60_000;

/** The limit of a language service's text, in characters. */
const MAX_MESSAGE_CHARS = 300;

/** The language services of the extensions of VS Code, through its built-in commands. */
export class VsCodeLanguageServices implements LanguageServices {
  readonly #names: WorkspaceNames;

  constructor(names: WorkspaceNames) {
    this.#names = names;
  }

  async outline(path: string, signal: AbortSignal): Promise<readonly DeclaredSymbol[] | undefined> {
    type Found = readonly (vscode.DocumentSymbol | vscode.SymbolInformation)[] | undefined;
    const uri = await this.#open(path, signal);
    const found = await ask<Found>(signal, 'vscode.executeDocumentSymbolProvider', uri);
    return found?.map(declared);
  }

  definitions(path: string, at: Position, signal: AbortSignal): Promise<readonly FoundPlace[]> {
    return this.#places('vscode.executeDefinitionProvider', path, at, signal);
  }

  references(path: string, at: Position, signal: AbortSignal): Promise<readonly FoundPlace[]> {
    return this.#places('vscode.executeReferenceProvider', path, at, signal);
  }

  async rename(path: string, at: Position, newName: string, signal: AbortSignal): Promise<RenameAnswer> {
    const uri = await this.#open(path, signal);
    let edit: vscode.WorkspaceEdit | undefined;
    try {
      edit = await ask(signal, 'vscode.executeDocumentRenameProvider', uri, positionOf(at), newName);
    } catch (error) {
      if (signal.aborted || error instanceof ToolError) throw error;
      // VS Code reports the same if there is no provider.
      const message = beginningOf(messageOf(error).split('\n', 1)[0] ?? '', MAX_MESSAGE_CHARS);
      return { kind: 'refused', message: /[.!?]$/.test(message) ? message : `${message}.` };
    }
    if (!edit) return { kind: 'none' };
    return this.#renameOf(edit);
  }

  #renameOf(edit: vscode.WorkspaceEdit): RenameAnswer {
    const entries = edit.entries();
    const edits = entries.reduce((sum, [, own]) => sum + own.length, 0);
    const all = partsOf(edit);
    if (all === 0) return { kind: 'none' };
    if (all === undefined || all !== edits)
      return { kind: 'unsupported', what: 'create, rename or delete files, or insert snippets' };
    const files: { path: string; edits: readonly RangeEdit[] }[] = [];
    for (const [uri, own] of entries) {
      const path = pathOfUri(uri, this.#names);
      if (path === undefined)
        return { kind: 'unsupported', what: `change ${fileName(uri)}, which is outside the workspace` };
      files.push({
        path,
        edits: own.map(({ range: { start, end }, newText }) => ({ start, end, text: newText })),
      });
    }
    return { kind: 'edits', files };
  }

  async #places(
    command: string,
    path: string,
    at: Position,
    signal: AbortSignal,
  ): Promise<readonly FoundPlace[]> {
    type Found = readonly (vscode.Location | vscode.LocationLink)[] | undefined;
    const uri = await this.#open(path, signal);
    const found = await ask<Found>(signal, command, uri, positionOf(at));
    const seen = new Set<string>();
    const places = (found ?? []).map((each): FoundPlace => {
      const [file, range] =
        'targetUri' in each
          ? [each.targetUri, each.targetSelectionRange ?? each.targetRange]
          : [each.uri, each.range];
      const own = pathOfUri(file, this.#names);
      return {
        path: own ?? fileName(file),
        isOutside: own === undefined,
        line: range.start.line,
        character: range.start.character,
      };
    });
    return places
      .filter(place => {
        const key = JSON.stringify(place);
        return !seen.has(key) && seen.add(key);
      })
      .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) || a.line - b.line);
  }

  /** Opens the document, and awaits the extensions that serve its language: VS Code asks only those that are running. */
  async #open(path: string, signal: AbortSignal): Promise<vscode.Uri> {
    const uri = this.#names.uriOf(path);
    const { languageId } = await limited(signal, async () => vscode.workspace.openTextDocument(uri));
    const event = `onLanguage:${languageId}`;
    const serving = vscode.extensions.all.filter(each => {
      const { activationEvents = [] } = each.packageJSON as { activationEvents?: unknown[] };
      return !each.isActive && (activationEvents.includes(event) || activationEvents.includes('onLanguage'));
    });
    // An extension that cannot start serves nothing; the others still may.
    await limited(signal, () => Promise.allSettled(serving.map(each => each.activate())));
    return uri;
  }
}

function ask<Answer>(signal: AbortSignal, command: string, ...args: unknown[]): Promise<Answer> {
  return limited(signal, async () => vscode.commands.executeCommand<Answer>(command, ...args));
}

/** @throws ToolError once the time is up. */
async function limited<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(PATIENCE);
  try {
    return await untilAborted(AbortSignal.any([signal, late]), start);
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error;
    throw new ToolError(
      `The language service did not answer within ${PATIENCE / 1_000} seconds. Use search_text or ast_grep.`,
    );
  }
}

/**
 * How many parts an edit has, including those that the public interface does not list: operations on files and snippets.
 * `undefined` if unknown.
 */
function partsOf(edit: vscode.WorkspaceEdit): number | undefined {
  const { _allEntries: all } = edit as { _allEntries?: unknown };
  if (typeof all !== 'function') return undefined;
  const parts: unknown = all.call(edit);
  return Array.isArray(parts) ? parts.length : undefined;
}

function declared(symbol: vscode.DocumentSymbol | vscode.SymbolInformation): DeclaredSymbol {
  const range = 'location' in symbol ? symbol.location.range : symbol.range;
  const selected = 'selectionRange' in symbol ? symbol.selectionRange : range;
  return {
    name: symbol.name,
    kind: (vscode.SymbolKind[symbol.kind] ?? 'symbol').toLowerCase(),
    line: selected.start.line,
    endLine: range.end.line,
    children: ('children' in symbol ? symbol.children : []).map(declared),
  };
}

function positionOf({ line, character }: Position): vscode.Position {
  return new vscode.Position(line, character);
}

function fileName(uri: vscode.Uri): string {
  return posix.basename(uri.path);
}
