import type { PromptView } from '../prompt.js';
import type { FailStep, ReplyStep } from '../steps.js';
import { frame, pieces, rawArguments, readJson, type Wire } from '../wire.js';
import { GEMINI_BODY, type GeminiPart } from './body.js';
import { rejectGemini } from './reject.js';

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
export const GEMINI_WIRE: Wire = {
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

/** The last, or the only, piece of an answer. */
function answer(
  words: readonly object[],
  step: Pick<ReplyStep, 'calls' | 'stop'> & { readonly thinking?: string | undefined },
  model: string,
  serial: number,
) {
  const calls = (step.calls ?? []).map((call, index) => {
    const raw = rawArguments(call);
    // The API has parsed the arguments: what is no JSON can only come as a string.
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
