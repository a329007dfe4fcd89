import { beginningOf } from '../../../base/cutText.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { detailOf } from '../../../base/errors.ts';
import { sha256 } from '../../../base/hash.ts';
import type { Logger } from '../../../base/logger.ts';
import { globMatcher } from '../../../hold/text/glob.ts';
import type { ToolRegistry } from '../registry.ts';
import { callTool, type CallParts } from './callTool.ts';
import type { EditorTool } from './port.ts';
import * as z from 'zod/mini';
import type { ToolSchema } from '../tool.ts';

/** The most tools of VS Code that are offered: each costs a part of every request, and servers take a limited number. */
const MAX_TOOLS = 64;
/** The longest schema of a tool, as JSON text. It cannot be cut, so a tool with a longer one is not offered. */
const MAX_SCHEMA_CHARS = 50_000;
/** The most characters of a description. */
const MAX_DESCRIPTION_CHARS = 4_000;
/** The most characters of all descriptions and schemas. */
const MAX_TOTAL_CHARS = 300_000;

/** Names that every model server accepts. */
const VALID_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The user's settings for tools of VS Code: names or globs of tools. */
export interface EditorToolSettings {
  /** The tools that the session may call. */
  readonly toolsFromVsCode: readonly string[];
  /** The tools among them that the user has declared read-only: they are called at once. */
  readonly readOnlyTools: readonly string[];
}

export interface EditorToolsOptions extends CallParts {
  readonly registry: ToolRegistry;
  readonly settings: () => EditorToolSettings;
  readonly logger: Logger;
}

interface Entry {
  /** A key that changes with everything about the tool that the model or the user sees. */
  readonly fingerprint: string;
  readonly registration: Disposable;
}

/**
 * Keeps the registry in step with the tools that VS Code offers and the user allows. There is no event for tools that come or
 * go, so {@link refresh} is called before each request.
 */
export class EditorTools {
  readonly #options: EditorToolsOptions;
  /** The registered tools, by the name that VS Code knows. */
  readonly #entries = new Map<string, Entry>();
  #reported = '';
  #work: Promise<void> = Promise.resolve();

  constructor(options: EditorToolsOptions) {
    this.#options = options;
  }

  /** Settles when the registered tools are up to date. Never rejects. */
  refresh(): Promise<void> {
    this.#work = this.#work
      .then(() => this.#refresh())
      .catch((error: unknown) => {
        this.#options.logger.error(`Reading the tools of VS Code failed: ${detailOf(error)}`);
      });
    return this.#work;
  }

  async #refresh(): Promise<void> {
    const { host, settings } = this.#options;
    const { toolsFromVsCode, readOnlyTools } = settings();
    const [isAllowed, isReadOnly] = await Promise.all([matcher(toolsFromVsCode), matcher(readOnlyTools)]);
    const allowed = host.isTrusted() ? host.list().filter(({ name }) => isAllowed(name)) : [];
    const { kept, leftOut } = withinBounds(allowed);
    const wanted = new Map(kept.map(tool => [tool.name, { tool, readOnly: isReadOnly(tool.name) }]));
    for (const [name, { fingerprint, registration }] of this.#entries) {
      const now = wanted.get(name);
      if (now && fingerprintOf(now) === fingerprint) continue;
      registration.dispose();
      this.#entries.delete(name);
    }
    for (const [name, found] of wanted) {
      if (this.#entries.has(name)) continue;
      const registration = await this.#register(found.tool, found.readOnly);
      if (registration) this.#entries.set(name, { fingerprint: fingerprintOf(found), registration });
      else leftOut.push(`${name}: its name is taken`);
    }
    this.#report(leftOut);
  }

  async #register(tool: EditorTool, readOnly: boolean): Promise<Disposable | undefined> {
    const { registry } = this.#options;
    const inputSchema = inputSchemaOf(tool);
    const parameters = await parametersOf(inputSchema);
    const name = offeredName(tool.name, taken => registry.has(taken));
    if (registry.has(name)) return undefined;
    const description = shortened(tool.description);
    return registry.register(
      callTool({ name, description, tool, readOnly, parameters, inputSchema }, this.#options),
    );
  }

  /** Logs the tools that are left out, once. */
  #report(leftOut: readonly string[]): void {
    const text = leftOut.join('\n');
    if (text !== '' && text !== this.#reported)
      this.#options.logger.warn(`Tools of VS Code that the model is not offered:\n${text}`);
    this.#reported = text;
  }
}

/**
 * The name under which the model is offered a tool: its own name if that is valid and free, else one that is derived from
 * its own name alone. So a name never comes to mean another tool because tools came or went.
 */
export function offeredName(name: string, isTaken: (name: string) => boolean): string {
  if (VALID_NAME.test(name) && !isTaken(name)) return name;
  const hash = sha256(Buffer.from(name)).slice(0, 8);
  return `${name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 55)}_${hash}`;
}

/**
 * The tools that are small enough to be offered, sorted by name, so that requests stay the same; and for each of the others
 * the reason why it is not offered.
 */
function withinBounds(tools: readonly EditorTool[]): { kept: EditorTool[]; leftOut: string[] } {
  const kept: EditorTool[] = [];
  const leftOut: string[] = [];
  let total = 0;
  for (const tool of tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const schema = JSON.stringify(inputSchemaOf(tool)).length;
    const size = schema + shortened(tool.description).length;
    if (schema > MAX_SCHEMA_CHARS) leftOut.push(`${tool.name}: its schema has ${schema} characters`);
    else if (kept.length >= MAX_TOOLS) leftOut.push(`${tool.name}: there are more than ${MAX_TOOLS}`);
    else if (total + size > MAX_TOTAL_CHARS) leftOut.push(`${tool.name}: all together are too long`);
    else {
      kept.push(tool);
      total += size;
    }
  }
  return { kept, leftOut };
}

function shortened(description: string): string {
  if (description.length <= MAX_DESCRIPTION_CHARS) return description;
  return `${beginningOf(description, MAX_DESCRIPTION_CHARS)}…`;
}

function fingerprintOf({ tool, readOnly }: { tool: EditorTool; readOnly: boolean }): string {
  return JSON.stringify([readOnly, tool.origin, shortened(tool.description), tool.inputSchema]);
}

async function matcher(globs: readonly string[]): Promise<(name: string) => boolean> {
  return globs.length === 0 ? () => false : globMatcher(globs);
}

/** The JSON Schema of a tool as it is; for a tool without one, an object without properties. */
function inputSchemaOf({ inputSchema }: EditorTool): Readonly<Record<string, unknown>> {
  return inputSchema ?? { type: 'object', properties: {} };
}

const anyObject = z.record(z.string(), z.unknown());

/**
 * A schema that checks arguments by a foreign one, as far as that is safe and possible. A foreign schema with regular expressions
 * is left to the tool, since one that backtracks for hours would block everything; so is one that cannot be compiled.
 */
async function parametersOf(inputSchema: Readonly<Record<string, unknown>>): Promise<ToolSchema> {
  if (hasPattern(inputSchema)) return anyObject;
  const { toolParameters } = await import('../custom/loading/parameters.ts');
  try {
    return toolParameters(inputSchema).parameters;
  } catch {
    return anyObject;
  }
}

function hasPattern(schema: unknown): boolean {
  return /"pattern(?:Properties)?":/.test(JSON.stringify(schema));
}
