/**
 * Types for Redline's custom tools. A tool is a file whose default export is a factory. It may import these types with
 * `import type`, which is erased when the tool is loaded.
 *
 * A tool that changes something should stage a preview with `pi.pushPendingAction` and return: nothing happens until the
 * preview is applied. Use previews for destructive or high-impact work only; reading needs none.
 */

/** The result of a tool, or of a preview's callback. The model gets only the text. */
export interface CustomToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  /** Kept with the conversation, never sent to the model. What JSON cannot represent is replaced by a note. */
  readonly details?: unknown;
  /** The call failed. Throwing an error has the same effect. */
  readonly isError?: boolean;
}

/** The change of one file. Applying it writes exactly `after`, and only if the file still contains exactly `before`. */
export interface CustomToolFileChange {
  /**
   * Relative to the workspace folder, with forward slashes; if several folders are open, it begins with the folder's
   * name. Or an absolute path inside a workspace folder. Each file may occur once.
   */
  readonly path: string;
  /** The content of the file now, as `ctx.readFile` returned it; `null` if it does not exist. */
  readonly before: string | null;
  /**
   * The new content; `null` deletes the file. It keeps the encoding that `ctx.readFile` found; otherwise it is UTF-8.
   */
  readonly after: string | null;
}

interface PendingActionBase {
  /** Concise and specific: it is what the user reads first. */
  readonly label: string;
  /** Shown with the preview and kept in the ledger, as JSON. */
  readonly details?: unknown;
  /** Default: `custom_tool`. */
  readonly sourceToolName?: string;
  /**
   * Runs when the preview is discarded. Only needed if there is something to clean up, such as temporary files or locks.
   * A returned result replaces the default text.
   */
  reject?(reason: string): CustomToolResult | undefined | void | Promise<CustomToolResult | undefined | void>;
}

/** A preview whose action is a callback. It does not survive a reload of the window: it is then shown as expired. */
export interface CustomToolCallbackAction extends PendingActionBase {
  /**
   * Carries out the action. It must be deterministic and safe to run once. The reason informs; it must not change what is
   * done. If it throws, the preview stays pending: it can be applied again, or discarded.
   */
  apply(reason: string): CustomToolResult | Promise<CustomToolResult>;
  readonly changes?: undefined;
}

/** A preview of file changes: a real diff, which the user can apply in parts and edit, and which survives a reload. */
export interface CustomToolFileAction extends PendingActionBase {
  /** Redline writes either all of them or none; there is no callback. */
  readonly changes: readonly CustomToolFileChange[];
  readonly apply?: undefined;
}

export type CustomToolPendingAction = CustomToolCallbackAction | CustomToolFileAction;

export interface ExecOptions {
  /** Default: `pi.cwd`. */
  readonly cwd?: string;
  /** Kills the process, with all that it has started, when it fires. */
  readonly signal?: AbortSignal;
  /** Kills the process, with all that it has started, after this many milliseconds. */
  readonly timeout?: number;
  /** Added to the environment, which is that of VS Code without its own variables, such as `ELECTRON_RUN_AS_NODE`. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  /** 127 if the command could not be started, `null` if a signal ended the process. */
  readonly code: number | null;
  /** Whether it was killed because of `signal`, `timeout` or too much output. */
  readonly killed: boolean;
}

/** Notifies and asks the user. A question that is closed without an answer resolves to `undefined` or `false`. */
export interface CustomToolUi {
  notify(message: string, kind?: 'info' | 'warning' | 'error'): void;
  confirm(title: string, message?: string): Promise<boolean>;
  input(title: string, placeholder?: string): Promise<string | undefined>;
  select(title: string, options: readonly string[]): Promise<string | undefined>;
}

/** Writes to the *Redline* log in the Output panel. */
export interface CustomToolLogger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** The argument of a factory. */
export interface CustomToolApi {
  /** The workspace folder that contains the tool; for a tool outside the workspace, the first open folder. */
  readonly cwd: string;
  /**
   * Runs a program without a shell; on Windows also a batch file, such as `npm`. Never rejects: if the program cannot be started,
   * the code is 127.
   */
  exec(command: string, args?: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  readonly ui: CustomToolUi;
  /** Whether there is a user to ask. */
  readonly hasUI: boolean;
  readonly logger: CustomToolLogger;
  /** Zod 4. */
  readonly zod: Zod;
  /** TypeBox. */
  readonly typebox: { readonly Type: TypeBox };
  /**
   * Stages a preview, which changes nothing yet. Several previews of one call are resolved one by one, the newest first
   * unless the setting `redline.resolve.order` says otherwise.
   * @throws when there is no session, or `action` is not valid.
   */
  pushPendingAction(action: CustomToolPendingAction): { readonly id: string };
  /** An error whose message tells the model what went wrong and what to do next. */
  readonly ToolError: new (message: string) => Error;
  /** Infers the parameter types of `execute` from `parameters`. Returns the tool unchanged. */
  defineTool<Parameters extends Schema<unknown>>(tool: TypedTool<Parameters>): CustomTool;
}

/** What `execute` can find out about its call. */
export interface CustomToolContext {
  readonly cwd: string;
  readonly hasUI: boolean;
  readonly sessionId: string;
  /** The text of a file as if the conversation's pending previews were applied; `null` if it does not exist. */
  readFile(path: string): Promise<string | null>;
}

/** The tool begins to be used in a session, the session is switched, or the tool ceases to be used. */
export interface CustomToolSessionEvent {
  readonly reason: 'start' | 'switch' | 'shutdown';
  readonly sessionId: string;
  /** With `switch`. */
  readonly previousSessionId?: string;
}

/** Reports the progress of a long call, which is shown in the chat and never sent to the model. */
export type CustomToolUpdate = (progress: CustomToolResult | string) => void;

export interface CustomTool<Params = any> {
  /** The name that the model uses: up to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** The name that the user sees. Default: `name`. */
  readonly label?: string;
  /** Tells the model what the tool does and when to use it. */
  readonly description: string;
  /** An object schema of `pi.zod` or `pi.typebox`, or JSON Schema. */
  readonly parameters: Schema<Params> | Readonly<Record<string, unknown>>;
  /** Not listed for the user, but still offered to the model. */
  readonly hidden?: boolean;
  /** Changes and stages nothing: also callable in plan mode, and its calls may run in parallel. */
  readonly readOnly?: boolean;
  execute(
    toolCallId: string,
    params: Params,
    onUpdate?: CustomToolUpdate,
    ctx?: CustomToolContext,
    signal?: AbortSignal,
  ): CustomToolResult | Promise<CustomToolResult>;
  onSession?(event: CustomToolSessionEvent): void | Promise<void>;
}

export type CustomToolFactory = (
  pi: CustomToolApi,
) => CustomTool | readonly CustomTool[] | Promise<CustomTool | readonly CustomTool[]>;

/** A tool whose `execute` has typed parameters. */
export interface TypedTool<Parameters extends Schema<unknown>> extends Omit<
  CustomTool,
  'parameters' | 'execute'
> {
  readonly parameters: Parameters;
  execute(
    toolCallId: string,
    params: OutputOf<Parameters>,
    onUpdate: CustomToolUpdate,
    ctx: CustomToolContext,
    signal: AbortSignal,
  ): CustomToolResult | Promise<CustomToolResult>;
}

/** A schema whose values have the type `T`. */
export interface Schema<T> {
  readonly _output?: T;
}
/** A property that may be left out. */
export interface OptionalSchema<T> extends Schema<T> {
  readonly _optional: true;
}
export type OutputOf<S> = S extends Schema<infer T> ? T : never;

type Shape = Readonly<Record<string, Schema<unknown>>>;
type OptionalKeys<S extends Shape> = {
  [K in keyof S]: S[K] extends OptionalSchema<unknown> ? K : never;
}[keyof S];
type ObjectOf<S extends Shape> = {
  [K in Exclude<keyof S, OptionalKeys<S>>]: OutputOf<S[K]>;
} & { [K in OptionalKeys<S>]?: OutputOf<S[K]> };

/** The most common part of Zod. The rest is available too, untyped. */
export interface Zod {
  object<S extends Shape>(shape: S): ZodSchema<ObjectOf<S>>;
  array<T>(item: Schema<T>): ZodSchema<T[]>;
  string(): ZodSchema<string>;
  number(): ZodSchema<number>;
  int(): ZodSchema<number>;
  boolean(): ZodSchema<boolean>;
  enum<const T extends string>(values: readonly T[]): ZodSchema<T>;
  literal<const T extends string | number | boolean>(value: T): ZodSchema<T>;
  record<T>(key: Schema<string>, value: Schema<T>): ZodSchema<Record<string, T>>;
  unknown(): ZodSchema<unknown>;
  readonly [other: string]: any;
}
export interface ZodSchema<T> extends Schema<T> {
  describe(text: string): this;
  optional(): ZodSchema<T | undefined> & OptionalSchema<T | undefined>;
  readonly [other: string]: any;
}

type SchemaOptions = Readonly<Record<string, unknown>>;
/** The most common part of TypeBox. The rest is available too, untyped. */
export interface TypeBox {
  Object<S extends Shape>(properties: S, options?: SchemaOptions): Schema<ObjectOf<S>>;
  Array<T>(items: Schema<T>, options?: SchemaOptions): Schema<T[]>;
  String(options?: SchemaOptions): Schema<string>;
  Number(options?: SchemaOptions): Schema<number>;
  Integer(options?: SchemaOptions): Schema<number>;
  Boolean(options?: SchemaOptions): Schema<boolean>;
  Literal<const T extends string | number | boolean>(value: T, options?: SchemaOptions): Schema<T>;
  Optional<T>(schema: Schema<T>): OptionalSchema<T>;
  readonly [other: string]: any;
}
