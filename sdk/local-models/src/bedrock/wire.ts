import { z } from 'zod';
import { rejectMessages } from '../anthropic/reject.js';
import { events, viewMessages, wholeMessage } from '../anthropic/wire.js';
import type { FailStep } from '../steps.js';
import type { Wire } from '../wire.js';
import { eventMessage } from './event-stream.js';

const PATH = /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream)$/;
/** The model is in the address, and the version in the body: the documented one, or that of the SDK. */
const BODY = z.looseObject({
  anthropic_version: z.string().regex(/^(bedrock-)?\d{4}-\d\d-\d\d$/),
  model: z.undefined().optional(),
  stream: z.undefined().optional(),
});

const EXCEPTIONS: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  401: 'UnrecognizedClientException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
};

/** `POST /model/{model}/invoke` and `…/invoke-with-response-stream`, for Anthropic's models. */
export const BEDROCK_WIRE: Wire = {
  match(path) {
    const [, model, action] = PATH.exec(path) ?? [];
    if (model === undefined) return undefined;
    return { model: decodeURIComponent(model), streamed: action === 'invoke-with-response-stream' };
  },
  reject(raw, rules) {
    const parsed = BODY.safeParse(raw);
    if (!parsed.success) return { status: 400, message: z.prettifyError(parsed.error) };
    return rejectMessages(asMessages(parsed.data), rules);
  },
  view: (raw) => viewMessages(asMessages(BODY.safeParse(raw).data ?? {})),
  reply: wholeMessage,
  frames: (step, model, serial) => events(step, model, serial).map(chunk),
  streamType: 'application/vnd.amazon.eventstream',
  failure: ({ message, status }) => ({ message: message ?? `scripted error ${status}` }),
  failureFrame: (step) =>
    eventMessage(
      { ':exception-type': inStream(step), ':content-type': 'application/json', ':message-type': 'exception' },
      { message: step.message ?? `scripted error ${step.status}` },
    ),
  failureHeaders: (step) => ({ 'x-amzn-errortype': exceptionOf(step) }),
};

function asMessages({ anthropic_version: _version, ...body }: Readonly<Record<string, unknown>>): unknown {
  return { ...body, model: 'in the address' };
}

function chunk(event: unknown): Uint8Array {
  return eventMessage(
    { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
    { bytes: Buffer.from(JSON.stringify(event)).toString('base64') },
  );
}

function exceptionOf({ status, code }: FailStep): string {
  return code ?? EXCEPTIONS[status] ?? 'InternalServerException';
}

/** The same names begin with a small letter there; an overloaded model has one of its own. */
function inStream({ status }: FailStep): string {
  const name = status === 529 ? 'ModelStreamErrorException' : exceptionOf({ kind: 'fail', status });
  return name.charAt(0).toLowerCase() + name.slice(1);
}
