import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { setting } from './redline.ts';

/** A message as the model got it. */
interface VendorMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly {
    readonly text?: string;
    readonly call?: string;
    readonly name?: string;
    readonly input?: object;
    readonly result?: string;
    /** The type of an image. */
    readonly image?: string;
    readonly base64?: string;
  }[];
}

export interface VendorRequest {
  readonly messages: readonly VendorMessage[];
  /** The names of the offered tools. */
  readonly tools: readonly string[];
  readonly required: boolean;
  /** Settles when the request is cancelled. */
  readonly cancelled: Promise<unknown>;
}

/** What the model does with a request: text, then calls, then an error or nothing until it is cancelled. */
export interface VendorAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: object }[];
  /** The error comes once this has settled. */
  readonly after?: Promise<unknown>;
  readonly error?: Error;
  readonly hang?: boolean;
}

/** The exports of the extension in `test/host/fixtures/modelVendor`. */
export interface ModelVendor {
  requests: VendorRequest[];
  /** How often tokens were counted. */
  counts: number;
  answer: (request: VendorRequest, n: number) => VendorAnswer | Promise<VendorAnswer>;
}

/** The name of its model in the settings. The id contains a slash, as some have. */
export const SCRIPTED_MODEL = 'redline-test/scripted/1';

/** Connects Redline to the scripted language model, which answers with one of these after the other. */
export async function useVendor(
  answers: ModelVendor['answer'] | readonly VendorAnswer[],
): Promise<ModelVendor> {
  const extension = vscode.extensions.getExtension<ModelVendor>('redline-test.model-vendor');
  const vendor = await (extension ?? assert.fail('installed')).activate();
  vendor.requests = [];
  vendor.counts = 0;
  vendor.answer =
    typeof answers === 'function'
      ? answers
      : (_request, n) => answers[n] ?? { error: new Error(`The script has no answer ${n}.`) };
  await setting('vscodeLm.model', SCRIPTED_MODEL);
  await setting('provider', 'vscode-lm');
  await setting('resolve.forcing', 'forced'); // as in connect
  return vendor;
}
