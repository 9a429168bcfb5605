import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { events, rejectMessages, viewMessages, wholeMessage } from './anthropic.js';
import { type StandIn, type StandInOptions, startStandIn } from './server.js';
import type { FailStep } from './steps.js';
import type { Wire } from './wire.js';

/**
 * Amazon Bedrock on loopback, as far as it serves Anthropic's models, streamed in AWS's own framing and not. `key` is the access key;
 * signatures are not checked.
 * @example
 * await using bedrock = await startBedrockStandIn({ steps: [say('Hello!')] });
 * const client = new AnthropicBedrock({ awsAccessKey: 'any', awsSecretKey: 'any', awsRegion: 'eu-west-1', baseURL: bedrock.baseUrl });
 */
export function startBedrockStandIn(options: StandInOptions = {}): Promise<StandIn> {
  return startStandIn(options, [BEDROCK_WIRE], '');
}

const PATH = /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream)$/;
/** The address names the model, and the body the version: the documented one, or that of the SDK. */
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
const BEDROCK_WIRE: Wire = {
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

/** The same error names in camel case; that of an overloaded model differs. */
function inStream({ status }: FailStep): string {
  const name = status === 529 ? 'ModelStreamErrorException' : exceptionOf({ kind: 'fail', status });
  return name.charAt(0).toLowerCase() + name.slice(1);
}

const STRING = 7;
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;

/**
 * A message of AWS's event stream: lengths with their checksum, headers, payload, and a checksum of the whole message.
 * https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html
 */
function eventMessage(headers: Readonly<Record<string, string>>, payload: unknown): Uint8Array {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(JSON.stringify(payload));
  const message = Buffer.alloc(PRELUDE_BYTES + head.length + body.length + CHECKSUM_BYTES);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(head.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  head.copy(message, PRELUDE_BYTES);
  body.copy(message, PRELUDE_BYTES + head.length);
  const end = message.length - CHECKSUM_BYTES;
  message.writeUInt32BE(crc32(message.subarray(0, end)), end);
  return message;
}

function header(name: string, value: string): Buffer {
  const nameBytes = Buffer.from(name);
  const valueBytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(valueBytes.length);
  return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, Buffer.from([STRING]), length, valueBytes]);
}
