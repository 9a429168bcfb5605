import type { ModelTool } from '@cinnabar/sdk';
import { toTranscript } from '../../transcript/transcript.js';
import { type CallResult, imageRule, joinTexts, type Part, type Turn, wordsOf } from '../../transcript/turns.js';
import { outputSchema, withoutDialect } from '../json.js';
import type { ProviderCall } from '../provider.js';

/** A piece of a message; each holds one of these. */
interface GeminiPart {
  readonly text?: string;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  readonly fileData?: { readonly mimeType: string; readonly fileUri: string };
  readonly functionCall?: {
    readonly id: string;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
  };
  readonly functionResponse?: {
    readonly id: string;
    readonly name: string;
    readonly response: Readonly<Record<string, unknown>>;
  };
  readonly thoughtSignature?: string;
}

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly GeminiPart[];
}

/** The body of `POST …:generateContent`. */
export interface GeminiBody {
  readonly systemInstruction: { readonly parts: readonly GeminiPart[]; readonly role: 'user' };
  readonly contents: readonly Content[];
  readonly tools?: readonly [{ readonly functionDeclarations: readonly object[] }];
  readonly generationConfig: Readonly<Record<string, unknown>>;
}

const IMAGE_LIMITS = {
  mediaTypes: ['image/png', 'image/jpeg', 'image/webp'],
  protocols: ['https:', 'http:'],
  maxBytes: 15 * 1024 * 1024,
};
const MAX_STOPS = 5;
/** What the vendor documents for calls whose signature is not at hand; newer models refuse calls without one. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

export function toGeminiBody(call: ProviderCall): GeminiBody {
  const { request, model, maxTokens, temperature, topP } = call;
  const { system, turns } = toTranscript(request, imageRule(IMAGE_LIMITS, call.images));
  const tools = request.output === undefined ? (request.tools ?? []) : [];
  const stops = (request.stopSequences ?? []).filter((stop) => stop !== '').slice(0, MAX_STOPS);
  const signed = /gemini-([3-9]|\d\d)/.test(model);
  const names = new Map(
    turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls.map(({ id, name }) => [id, name] as const) : [])),
  );
  return {
    systemInstruction: { parts: [{ text: system }], role: 'user' },
    contents: turns.flatMap((turn) => toContents(turn, names, signed)),
    ...(tools.length === 0 ? {} : { tools: [{ functionDeclarations: tools.map(toDeclaration) }] }),
    generationConfig: {
      ...(temperature === undefined ? {} : { temperature }),
      ...(topP === undefined ? {} : { topP }),
      ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
      ...(stops.length === 0 ? {} : { stopSequences: stops }),
      ...(request.output === undefined
        ? {}
        : { responseMimeType: 'application/json', responseJsonSchema: outputSchema(request.output.schema) }),
    },
  };
}

function toDeclaration({ name, description, inputSchema }: ModelTool): object {
  return { name, description, parametersJsonSchema: withoutDialect(inputSchema) };
}

function toContents(turn: Turn, names: ReadonlyMap<string, string>, signed: boolean): readonly Content[] {
  if (turn.role === 'user') return [{ role: 'user', parts: joinTexts(turn.parts).map(toPart) }];
  if (turn.role === 'results') return toResponses(turn.results, names);
  const words = wordsOf(turn);
  const calls = turn.calls.map(
    ({ id, name, input }): GeminiPart => ({
      functionCall: { id, name, args: input },
      ...(signed ? { thoughtSignature: NO_SIGNATURE } : {}),
    }),
  );
  return [{ role: 'model', parts: [...(words === '' ? [] : [{ text: words }]), ...calls] }];
}

/** A response holds data only: images follow in a message of their own. */
function toResponses(results: readonly CallResult[], names: ReadonlyMap<string, string>): readonly Content[] {
  const images = results.flatMap(({ parts }) => parts.filter((part) => part.type === 'image'));
  const responses = results.map(({ id, parts, isError }): GeminiPart => {
    const text = parts.map((part) => (part.type === 'text' ? part.text : '(the image below)')).join('\n');
    return {
      functionResponse: { id, name: names.get(id) ?? 'unnamed', response: { [isError ? 'error' : 'output']: text } },
    };
  });
  const shown: readonly GeminiPart[] = [{ text: '(Images from the tool results above.)' }, ...images.map(toPart)];
  return [
    { role: 'user', parts: responses },
    ...(images.length === 0 ? [] : [{ role: 'user' as const, parts: shown }]),
  ];
}

function toPart(part: Part): GeminiPart {
  if (part.type === 'text') return { text: part.text };
  const { type, data, mediaType } = part.source;
  const mimeType = mediaType.toLowerCase();
  return type === 'url' ? { fileData: { mimeType, fileUri: data } } : { inlineData: { mimeType, data } };
}
