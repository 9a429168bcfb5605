import { z } from 'zod';
import type { EmbeddingWire } from './embedding.js';
import { type StandIn, type StandInOptions, startStandIn } from './server.js';
import type { FailStep, PromptView, ReplyStep } from './steps.js';
import { frame, pieces, type Rejection, rawArguments, readJson, type Wire } from './wire.js';

/**
 * Google's Gemini API on loopback: `generateContent`, streamed and not, and `batchEmbedContents`. Requests that the real API would refuse get a 400.
 * @example
 * await using google = await startGoogleStandIn({ steps: [say('Hello!')] });
 * const client = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: google.baseUrl } });
 */
export function startGoogleStandIn(options: StandInOptions = {}): Promise<StandIn> {
  return startStandIn(options, [GEMINI_WIRE], '', { embeddings: GOOGLE_EMBEDDINGS });
}

const name = z.string().regex(/^[a-zA-Z_][\w.-]{0,63}$/);
const mimeType = z.enum(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif']);
const args = z.record(z.string(), z.unknown());

const part = z
  .strictObject({
    text: z.string().optional(),
    inlineData: z.strictObject({ mimeType, data: z.base64().min(1) }).optional(),
    fileData: z.strictObject({ mimeType, fileUri: z.url({ protocol: /^https?$/ }) }).optional(),
    functionCall: z.strictObject({ id: z.string().optional(), name, args: args.optional() }).optional(),
    functionResponse: z.strictObject({ id: z.string().optional(), name, response: args }).optional(),
    thoughtSignature: z.string().min(1).optional(),
  })
  .refine(
    ({ thoughtSignature: _signature, ...data }) =>
      Object.values(data).filter((value) => value !== undefined).length === 1,
    'required oneof field "data" must have one initialized field',
  );
type GeminiPart = z.output<typeof part>;

const content = z.strictObject({ role: z.enum(['user', 'model']), parts: z.array(part).min(1) });

/** The supported part of a `generateContent` request; anything else is refused. */
const GEMINI_BODY = z.strictObject({
  contents: z.array(content).min(1),
  systemInstruction: z.strictObject({ role: z.string().optional(), parts: z.array(part).min(1) }).optional(),
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z.array(
          z.strictObject({
            name,
            description: z.string().optional(),
            parametersJsonSchema: z.looseObject({ type: z.literal('object') }).optional(),
          }),
        ),
      }),
    )
    .optional(),
  generationConfig: z
    .strictObject({
      temperature: z.number().min(0).max(2).optional(),
      topP: z.number().min(0).max(1).optional(),
      maxOutputTokens: z.number().int().min(1).optional(),
      stopSequences: z.array(z.string().min(1)).max(5).optional(),
      responseMimeType: z.enum(['text/plain', 'application/json']).optional(),
      responseJsonSchema: z.looseObject({ type: z.literal('object') }).optional(),
    })
    .optional(),
});
type GeminiBody = z.output<typeof GEMINI_BODY>;

const PATH = /^\/v1beta\/models\/([^/]+):(generateContent|streamGenerateContent)$/;

const STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

const FINISH: Readonly<Record<string, string>> = { max_tokens: 'MAX_TOKENS', refusal: 'SAFETY' };

/** `POST /v1beta/models/{model}:generateContent` and `…:streamGenerateContent`. */
const GEMINI_WIRE: Wire = {
  match(path) {
    const [, model, action] = PATH.exec(path) ?? [];
    if (model === undefined) return undefined;
    return { model: decodeURIComponent(model), streamed: action === 'streamGenerateContent' };
  },
  reject: rejectGemini,
  view,
  reply: (step, model, serial) => ({
    ...answer([...(step.text === undefined ? [] : [{ text: step.text }])], step, model, serial),
    usageMetadata: usage(step),
  }),
  frames(step, model, serial) {
    const words = step.text === undefined ? [] : pieces(step.text);
    const head = { modelVersion: model, responseId: `resp_${serial}` };
    const piece = (part: unknown) =>
      frame({ candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }], ...head });
    return [
      ...thoughts(step).map(piece),
      ...words.map((text) => piece({ text })),
      frame({ ...answer([], { ...step, thinking: undefined }, model, serial), usageMetadata: usage(step) }),
    ];
  },
  failure,
  failureFrame: (step) => frame(failure(step)),
};

function view(raw: unknown): PromptView {
  const body = GEMINI_BODY.safeParse(raw).data;
  const contents = body?.contents ?? [];
  const last = contents.at(-1)?.parts ?? [];
  return {
    model: '',
    system: textOf(body?.systemInstruction?.parts ?? []),
    text: textOf(contents.findLast(({ role, parts }) => role === 'user' && textOf(parts) !== '')?.parts ?? []),
    tools: (body?.tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations.map((tool) => tool.name)),
    results: last.flatMap(({ functionResponse: response }) =>
      response === undefined ? [] : [String(response.response.output ?? response.response.error ?? '')],
    ),
  };
}

function textOf(parts: readonly GeminiPart[]): string {
  return parts.map(({ text }) => text ?? '').join('');
}

function thoughts({ thinking }: { readonly thinking?: string | undefined }): readonly object[] {
  return thinking === undefined ? [] : [{ text: thinking, thought: true }];
}

/** The last, or only, chunk of a response. */
function answer(
  words: readonly object[],
  step: Pick<ReplyStep, 'calls' | 'stop'> & { readonly thinking?: string | undefined },
  model: string,
  serial: number,
) {
  const calls = (step.calls ?? []).map((call, index) => {
    const raw = rawArguments(call);
    // The API parses the arguments: invalid JSON can only be sent as a string.
    return { functionCall: { id: call.id ?? `fc_${serial}_${index}`, name: call.name, args: readJson(raw) ?? raw } };
  });
  return {
    candidates: [
      {
        content: { role: 'model', parts: [...thoughts(step), ...words, ...calls] },
        finishReason: FINISH[step.stop ?? ''] ?? 'STOP',
        index: 0,
      },
    ],
    modelVersion: model,
    responseId: `resp_${serial}`,
  };
}

function usage({ usage: scripted }: ReplyStep) {
  const prompt = scripted?.inputTokens ?? 10;
  const output = scripted?.outputTokens ?? 5;
  const cached = scripted?.cacheReadTokens ?? 0;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: output,
    totalTokenCount: prompt + output,
    ...(cached === 0 ? {} : { cachedContentTokenCount: cached }),
  };
}

function failure(step: FailStep) {
  const { status: code, retryAfterSeconds: seconds } = step;
  const details = [
    ...(step.code === undefined ? [] : [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: step.code }]),
    ...(seconds === undefined
      ? []
      : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` }]),
  ];
  const message = step.message ?? `scripted error ${code}`;
  return { error: { code, message, status: STATUS[code] ?? 'UNKNOWN', ...(details.length === 0 ? {} : { details }) } };
}

/** Refuses what the Gemini API refuses. */
function rejectGemini(raw: unknown): Rejection | undefined {
  const parsed = GEMINI_BODY.safeParse(raw);
  if (!parsed.success) return { status: 400, message: z.prettifyError(parsed.error) };
  const message = wrongTurns(parsed.data) ?? wrongOutput(parsed.data);
  return message === undefined ? undefined : { status: 400, message };
}

/** A turn of calls follows a user's turn, and the next one holds a response for each call. */
function wrongTurns({ contents }: GeminiBody): string | undefined {
  let open = 0;
  for (const [index, { role, parts }] of contents.entries()) {
    const calls = parts.filter(({ functionCall }) => functionCall !== undefined).length;
    const responses = parts.filter(({ functionResponse }) => functionResponse !== undefined).length;
    if (calls > 0 && role !== 'model') return `contents[${index}]: function calls come from the model`;
    if (calls > 0 && contents[index - 1]?.role !== 'user') {
      return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
    }
    if (responses !== open) {
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
    }
    open = calls;
  }
  return open > 0
    ? 'Please ensure that function response turn comes immediately after a function call turn.'
    : undefined;
}

function wrongOutput({ generationConfig, tools }: GeminiBody): string | undefined {
  if (generationConfig?.responseJsonSchema === undefined) return undefined;
  if (generationConfig.responseMimeType !== 'application/json') {
    return 'response_json_schema only allowed for application/json response_mime_type';
  }
  return tools === undefined
    ? undefined
    : "Function calling with a response mime type: 'application/json' is unsupported";
}

const EMBEDDING_PATH = /^\/v1beta\/models\/([^/]+):batchEmbedContents$/;
const CONTENT = z.object({ parts: z.array(z.object({ text: z.string().min(1) })).length(1) });
const BODY = z.object({
  requests: z
    .array(z.object({ model: z.string().min(1), content: CONTENT }))
    .min(1)
    .max(100),
});

/** `POST /v1beta/models/{model}:batchEmbedContents`. */
const GOOGLE_EMBEDDINGS: EmbeddingWire = {
  match(path, raw) {
    const [, model] = EMBEDDING_PATH.exec(path) ?? [];
    if (model === undefined) return undefined;
    const body = BODY.safeParse(raw).data;
    const texts = body?.requests.map(({ content }) => content.parts.map(({ text }) => text).join(''));
    return { model: decodeURIComponent(model), texts };
  },
  reply: (vectors) => ({ embeddings: vectors.map((values) => ({ values })) }),
};
