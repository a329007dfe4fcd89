import * as vscode from 'vscode';
import type { AnswerPart, EditorTool, EditorToolHost } from '../../agent/session/tools/editor/port.ts';
import type { ToolOrigin } from '../../agent/hold/preview/toolCallPlan.ts';
import { EditorTools, type EditorToolsOptions } from '../../agent/session/tools/editor/editorTools.ts';
import { languageModelTools, MCP_TOOL_PREFIX } from '../contributions.ts';
import type { Settings } from '../settings.ts';

/** The tag that VS Code gives to the tools of MCP servers. */
const MCP_TAG = 'mcp';

/** The tools of VS Code for the session, by the current settings. */
export function createEditorTools({
  settings,
  ...parts
}: Omit<EditorToolsOptions, 'host' | 'settings' | 'timeLimit'> & {
  readonly settings: Settings;
}): EditorTools {
  return new EditorTools({
    ...parts,
    host: new VsCodeToolHost(),
    settings: () => settings,
    timeLimit: () => settings.commandTimeLimit,
  });
}

/** The tools that `vscode.lm` offers. */
class VsCodeToolHost implements EditorToolHost {
  readonly isTrusted = (): boolean => vscode.workspace.isTrusted;

  list(): readonly EditorTool[] {
    const owners = contributedTools();
    return vscode.lm.tools
      .filter(({ name }) => !isOwn(name))
      .map(({ name, description, inputSchema, tags }) => ({
        name,
        description,
        inputSchema: inputSchema as EditorTool['inputSchema'],
        origin: owners.get(name) ?? { kind: tags.includes(MCP_TAG) ? 'mcp' : 'unknown' },
      }));
  }

  async call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<readonly AnswerPart[]> {
    const source = new vscode.CancellationTokenSource();
    const cancel = (): void => source.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const { content } = await vscode.lm.invokeTool(
        name,
        { input, toolInvocationToken: undefined },
        source.token,
      );
      return content.map(answerPart);
    } catch (error) {
      throw isCancellation(error) ? new DOMException('The call was cancelled.', 'AbortError') : error;
    } finally {
      signal.removeEventListener('abort', cancel);
      source.dispose();
    }
  }
}

/**
 * Whether this is one of the tools that Redline offers to other agents. Through such a tool, Redline's own model would act as
 * another agent, with votes of its own.
 */
function isOwn(name: string): boolean {
  return Object.hasOwn(languageModelTools, name) || name.startsWith(MCP_TOOL_PREFIX);
}

/** The extensions that contribute tools, by tool name. */
function contributedTools(): ReadonlyMap<string, ToolOrigin> {
  const owners = new Map<string, ToolOrigin>();
  for (const { id, packageJSON } of vscode.extensions.all) {
    const { displayName, contributes } = packageJSON as Manifest;
    const origin: ToolOrigin = { kind: 'extension', id, name: displayName ?? id };
    const tools = contributes?.languageModelTools;
    if (!Array.isArray(tools)) continue;
    for (const tool of tools as ({ readonly name?: unknown } | null)[])
      if (typeof tool?.name === 'string') owners.set(tool.name, origin);
  }
  return owners;
}

/** The part of an extension's manifest that is read. VS Code has checked the name, and ignores invalid contributions. */
interface Manifest {
  readonly displayName?: string;
  readonly contributes?: { readonly languageModelTools?: unknown };
}

/** The list of kinds may grow, so parts of no known class are recognized by their fields. */
function answerPart(part: unknown): AnswerPart {
  if (part instanceof vscode.LanguageModelTextPart) return { kind: 'text', text: part.value };
  if (part instanceof vscode.LanguageModelPromptTsxPart)
    return { kind: 'other', name: 'a part for prompts of VS Code' };
  if (isData(part)) return { kind: 'other', name: `${part.data.length} bytes of ${part.mimeType}` };
  return { kind: 'other', name: 'a part of an unknown kind' };
}

function isData(part: unknown): part is { readonly mimeType: string; readonly data: Uint8Array } {
  if (typeof part !== 'object' || part === null || !('mimeType' in part) || !('data' in part)) return false;
  return typeof part.mimeType === 'string' && part.data instanceof Uint8Array;
}

/** VS Code's error for a cancelled call, also where it is no longer a `CancellationError`. */
function isCancellation(error: unknown): boolean {
  return (
    error instanceof vscode.CancellationError ||
    (error instanceof Error && (error.name === 'Canceled' || error.message === 'Canceled'))
  );
}
