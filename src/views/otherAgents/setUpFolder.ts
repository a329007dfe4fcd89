import * as path from 'node:path';
import * as vscode from 'vscode';
import { ToolError } from '../../agent/base/errors.ts';
import type { FileRecord } from '../../agent/clients/setUp/added.ts';
import {
  connectedText,
  disconnectedText,
  namesServer,
  restrictsUnknown,
  type FileText,
} from '../../agent/clients/setUp/configFiles.ts';
import {
  isNamed,
  knownAgents,
  type ConfigFile,
  type KnownAgent,
} from '../../agent/clients/setUp/knownAgents.ts';
import { changeOf, type FileChange, type FileSide } from '../../agent/preview/fileChange.ts';
import { assertCanHoldFile, proposedSide, readText } from '../../agent/preview/textFile.ts';
import type { VsCodeWorkspace } from '../workspace/workspace.ts';
import type { SetUpRecords } from './setUpRecords.ts';

/** A configuration file of an agent as it is in a folder. */
interface FoundFile extends FileText {
  /** Relative to the folder. */
  readonly name: string;
  readonly side: FileSide | null;
}

/** A workspace folder in which agents are connected, by changes of their configuration files that are previewed. */
export class SetUpFolder {
  readonly uri: vscode.Uri;
  /** The name that workspace paths begin with; empty if only one folder is open. */
  readonly prefix: string;
  readonly #workspace: VsCodeWorkspace;
  readonly #records: SetUpRecords;

  private constructor(fsPath: string, prefix: string, workspace: VsCodeWorkspace, records: SetUpRecords) {
    this.uri = vscode.Uri.file(fsPath);
    this.prefix = prefix;
    this.#workspace = workspace;
    this.#records = records;
  }

  /** The folders of this window that are on disk. */
  static all(workspace: VsCodeWorkspace, records: SetUpRecords): readonly SetUpFolder[] {
    const folders = workspace.folders();
    return folders.map(
      ({ name, fsPath }) => new SetUpFolder(fsPath, folders.length > 1 ? name : '', workspace, records),
    );
  }

  get name(): string {
    return path.basename(this.uri.fsPath);
  }

  /** The name, relative to this folder, of the file at a workspace path; `undefined` if it is in another folder. */
  nameOf(workspacePath: string): string | undefined {
    if (this.prefix === '') return workspacePath;
    return workspacePath.startsWith(`${this.prefix}/`)
      ? workspacePath.slice(this.prefix.length + 1)
      : undefined;
  }

  /** Whether the agent is connected here: its configuration names Redline, or holds what Redline added to it. */
  async has(agent: KnownAgent): Promise<boolean> {
    if (await this.namesServer(agent)) return true;
    return agent.files.some(
      file => file.format !== 'paragraph' && file.names.some(name => this.#records.of(this.uri, name)),
    );
  }

  /** Whether the agent's configuration here names Redline's server. */
  async namesServer({ files }: KnownAgent): Promise<boolean> {
    for (const file of files) {
      if (file.format === 'paragraph') continue;
      try {
        if (await namesServer(file, (await this.#find(file)).text)) return true;
      } catch (error) {
        if (!(error instanceof ToolError)) throw error; // else it is no file that an agent can read
      }
    }
    return false;
  }

  /**
   * The changes that connect the agent.
   * @throws SetUpRefusal, ToolError or PathError if a file cannot be changed safely.
   */
  connecting(agent: KnownAgent, bridge: string): Promise<readonly FileChange[]> {
    return this.#changes(agent.files, file => connectedText(file, bridge));
  }

  /**
   * The changes that remove what Redline added for the agent. The paragraph stays if another connected agent reads it.
   * @throws SetUpRefusal, ToolError or PathError if a file cannot be changed safely.
   */
  async disconnecting(agent: KnownAgent): Promise<readonly FileChange[]> {
    const shared: ConfigFile[] = [];
    for (const other of knownAgents)
      if (other !== agent && (await this.namesServer(other))) shared.push(...other.files);
    const own = agent.files.filter(
      ({ format, names }) =>
        format !== 'paragraph' || !shared.some(file => names.some(name => isNamed(file, name))),
    );
    return this.#changes(own, (file, record) => disconnectedText(file, record));
  }

  /** The files that keep the agent from editing, though it is not known who wrote that; workspace paths. */
  async unknownRestrictions(agent: KnownAgent): Promise<readonly string[]> {
    const paths: string[] = [];
    for (const file of agent.files) {
      const { path, name, text } = await this.#find(file);
      if (await restrictsUnknown(file, text, this.#records.of(this.uri, name))) paths.push(path);
    }
    return paths;
  }

  /** Forgets what Redline added for the agent. */
  async forget(agent: KnownAgent): Promise<void> {
    for (const file of agent.files)
      if (file.format !== 'paragraph')
        for (const name of file.names) await this.#records.set(this.uri, name, undefined);
  }

  async #changes(
    files: readonly ConfigFile[],
    textOf: (file: FileText, record: FileRecord | undefined) => Promise<string | null>,
  ): Promise<readonly FileChange[]> {
    const changes: FileChange[] = [];
    for (const each of files) {
      const { path: at, name, side, ...file } = await this.#find(each);
      const text = await textOf({ ...file, path: at }, this.#records.of(this.uri, name));
      if (text === file.text) continue;
      if (!side) await assertCanHoldFile(this.#workspace, at);
      const after = text === null ? null : await proposedSide(this.#workspace, at, side, text);
      const change = changeOf(at, side, after);
      if (change) changes.push(change);
    }
    return changes;
  }

  /** The file with the first of its names that exists, else with the last. */
  async #find(file: ConfigFile): Promise<FoundFile> {
    const last = file.names.at(-1);
    for (const wanted of file.names) {
      const at = await this.#workspace.resolvePath(this.prefix === '' ? wanted : `${this.prefix}/${wanted}`);
      const side = await readText(this.#workspace, at);
      if (side || wanted === last)
        return { file, path: at, name: this.nameOf(at) ?? wanted, side, text: side?.text ?? null };
    }
    throw new TypeError('A configuration file needs a name.');
  }
}
