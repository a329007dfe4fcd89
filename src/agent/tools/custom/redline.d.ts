/**
 * Types for Redline's custom tools. A tool is a file whose default export is a factory; it may import these types with
 * `import type`, which leaves nothing behind when it runs.
 *
 * A tool that changes something should stage a preview with `pi.pushPendingAction` and return: nothing happens before
 * the preview is applied. Keep previews for what is destructive or of consequence; reading needs none.
 */

/** What a tool, or a callback of a preview, answers. Only the text reaches the model. */
export interface CustomToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  /** Kept with the conversation, never sent to the model. What JSON cannot hold becomes a text that says so. */
  readonly details?: unknown;
  /** The call failed. Throwing an error says the same. */
  readonly isError?: boolean;
}

/** One file's change. What lands is exactly `after`, and only if the file still holds exactly `before`. */
export interface CustomToolFileChange {
  /**
   * Relative to the workspace folder with forward slashes, with the folder's name in front where several are open; or an
   * absolute path inside one. Each file once.
   */
  readonly path: string;
  /** What the file holds now, as `ctx.readFile` gave it; `null`: there is none. */
  readonly before: string | null;
  /** What it is to hold; `null`: it is deleted. It keeps the encoding that `ctx.readFile` found, and is else UTF-8. */
  readonly after: string | null;
}

interface PendingActionBase {
  /** Concise and specific: it is what the person reads first. */
  readonly label: string;
  /** Shown with the preview and kept in the ledger, as JSON. */
  readonly details?: unknown;
  /** Default: `custom_tool`. */
  readonly sourceToolName?: string;
  /**
   * Runs when the preview is discarded, and only where there is something to clean up: temporary files, locks. What it
   * returns replaces the default text.
   */
  reject?(reason: string): CustomToolResult | undefined | void | Promise<CustomToolResult | undefined | void>;
}

/** A preview whose action is a callback. It lives as long as the window: after a reload it has expired. */
export interface CustomToolCallbackAction extends PendingActionBase {
  /**
   * Does it. It must be deterministic and safe to run once; the reason informs, it never changes what is done. What is
   * thrown keeps the preview pending: it can be applied again, or discarded.
   */
  apply(reason: string): CustomToolResult | Promise<CustomToolResult>;
  readonly changes?: undefined;
}

/** A preview of file changes: a real diff that the person can take in parts, edit and keep over a reload. */
export interface CustomToolFileAction extends PendingActionBase {
  /** All land or none. Redline writes them itself; there is nothing to call. */
  readonly changes: readonly CustomToolFileChange[];
  readonly apply?: undefined;
}

export type CustomToolPendingAction = CustomToolCallbackAction | CustomToolFileAction;

export interface ExecOptions {
  /** Default: `pi.cwd`. */
  readonly cwd?: string;
  /** Ends the process when it fires. */
  readonly signal?: AbortSignal;
  /** Ends the process after so many milliseconds. */
  readonly timeout?: number;
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  /** 127 when the command could not be started, `null` when a signal ended it. */
  readonly code: number | null;
  /** It was ended by the signal, the timeout or too much output. */
  readonly killed: boolean;
}

/** Asks and tells the person. Closing a question answers it with `undefined` or `false`. */
export interface CustomToolUi {
  notify(message: string, kind?: 'info' | 'warning' | 'error'): void;
  confirm(title: string, message?: string): Promise<boolean>;
  input(title: string, placeholder?: string): Promise<string | undefined>;
  select(title: string, options: readonly string[]): Promise<string | undefined>;
}

/** Writes to the log *Redline* in the output panel. */
export interface CustomToolLogger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** What a factory gets. */
export interface CustomToolApi {
  /** The workspace folder that the tool lies in; for a tool of the user, the first folder that is open. */
  readonly cwd: string;
  /** Runs a program without a shell. Never rejects: a command that cannot be started has the code 127. */
  exec(command: string, args?: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  readonly ui: CustomToolUi;
  /** Whether there is a person to ask. */
  readonly hasUI: boolean;
  readonly logger: CustomToolLogger;
  /** Zod 4. */
  readonly zod: Zod;
  /** TypeBox. */
  readonly typebox: { readonly Type: TypeBox };
  /**
   * Stages a preview; nothing is changed by it. Several previews of one call are resolved one by one, the newest first
   * unless the setting `redline.resolve.order` says otherwise.
   * @throws when it is called outside of a session, or with what is no action.
   */
  pushPendingAction(action: CustomToolPendingAction): { readonly id: string };
  /** An error whose message tells the model what went wrong and what to do next. */
  readonly ToolError: new (message: string) => Error;
  /** Gives `execute` the types of `parameters`. Returns the tool as it is. */
  defineTool<Parameters extends Schema<unknown>>(tool: TypedTool<Parameters>): CustomTool;
}

/** What `execute` may ask about the moment of the call. */
export interface CustomToolContext {
  readonly cwd: string;
  readonly hasUI: boolean;
  readonly sessionId: string;
  /** A file's text as if the pending previews were applied; `null` when there is none. */
  readFile(path: string): Promise<string | null>;
}

/** A session that a tool is used in begins, gives way to another, or ends. */
export interface CustomToolSessionEvent {
  readonly reason: 'start' | 'switch' | 'shutdown';
  readonly sessionId: string;
  /** With `switch`. */
  readonly previousSessionId?: string;
}

/** Tells how far a long call is; shown in the chat, never sent to the model. */
export type CustomToolUpdate = (progress: CustomToolResult | string) => void;

export interface CustomTool<Params = any> {
  /** What the model calls it: letters, digits, `_` and `-`. */
  readonly name: string;
  /** What people read. Default: the name. */
  readonly label?: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  /** An object schema of `pi.zod` or `pi.typebox`, or JSON Schema. */
  readonly parameters: Schema<Params> | Readonly<Record<string, unknown>>;
  /** Not listed for people; the model is offered it all the same. */
  readonly hidden?: boolean;
  /** Changes nothing and stages nothing: also offered in plan mode, and calls may run side by side. */
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

/** A tool whose parameters have a type. */
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

/** The part of Zod that tools need most often. The rest is there too, without types. */
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
/** The part of TypeBox that tools need most often. The rest is there too, without types. */
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
