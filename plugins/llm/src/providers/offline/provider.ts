import {
  CinnabarError,
  type ContentBlock,
  type LlmRequest,
  type ModelTool,
  type ParticipantMessage,
  type Random,
  t,
} from '@cinnabar/sdk';
import { type Family, NO_CACHE } from '../../traits.js';
import type { ProviderDefinition } from '../definition.js';
import type { Provider, ProviderReply } from '../provider.js';
import { type Doubt, type Match, needsId, readable, readUtterance } from './match.js';

/**
 * A model that needs no key and no network. It parses the last message as one of the offered tools' examples; after a tool's result it repeats that result;
 * otherwise it explains what it is and what it can do.
 */
function createOfflineProvider(random: Random): Provider {
  return {
    name: 'offline',
    modes: ['chat'],
    async send({ request }) {
      if (request.output !== undefined) {
        const detail = t(
          'it is the offline model, which only matches fixed requests. Connect a language model for this',
        );
        throw new CinnabarError('CINNABAR_LLM_UNSUPPORTED', { model: 'offline', detail });
      }
      return { ok: true, reply: answer(request, random) };
    },
    render: ({ request }) => request,
  };
}

function answer(request: LlmRequest, random: Random): ProviderReply {
  const messages = request.messages.filter((message) => !message.content.every(isBlank));
  const results = tailResults(messages);
  if (results.length > 0) return say(results.join('\n'));
  const said = messages.findLast((message) => message.participant !== request.self);
  const tools = request.tools ?? [];
  const { matches, doubt } = readUtterance(textOf(said?.content ?? []), request.self, tools);
  const [match] = matches;
  if (match === undefined) return say(doubt === undefined ? explainYourself(tools) : explainDoubt(doubt));
  if (matches.length > 1) return say(askWhich(matches));
  const call = { type: 'tool_use' as const, id: `offline_${random.id()}`, name: match.tool.name, input: match.input };
  return { ...say(''), content: [call], stopReason: 'tool_use' };
}

/** Texts of the results at the end of the conversation. */
function tailResults(messages: readonly ParticipantMessage[]): readonly string[] {
  const lastOther = messages.findLastIndex(({ content }) => !content.some((block) => block.type === 'tool_result'));
  return messages
    .slice(lastOther + 1)
    .flatMap(({ content }) => content)
    .flatMap((block) =>
      block.type === 'tool_result' ? [typeof block.content === 'string' ? block.content : textOf(block.content)] : [],
    )
    .filter((text) => text.trim() !== '');
}

function say(text: string): ProviderReply {
  return {
    content: [{ type: 'text', text }],
    stopReason: 'end_turn',
    usage: { inputTokens: 0, outputTokens: 0 },
    model: 'offline',
  };
}

function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function isBlank(block: ContentBlock): boolean {
  return block.type === 'text' && block.text.trim() === '';
}

const MAX_EXAMPLES = 6;

/** The model's abilities, for a message that it could not match. Examples that need an id are omitted. */
function explainYourself(tools: readonly ModelTool[]): string {
  const examples = tools.flatMap((tool) =>
    (tool.examples ?? [])
      .filter((example) => !needsId(example))
      .slice(0, 1)
      .map(readable),
  );
  if (examples.length === 0)
    return t(
      'I am the offline model: no language model is connected, so I understand only a few sentences, and none that I could act on here. Commands work as ever: see `help`.',
    );
  return [
    t(
      'I am the offline model: no language model is connected, so I understand only a few sentences, with your own words in place of the capitals:',
    ),
    ...examples.slice(0, MAX_EXAMPLES).map((example) => `- ${example}`),
    t('Commands work as ever: see `help`.'),
  ].join('\n');
}

/** Why no tool was called, when an example nearly matches. */
function explainDoubt({ example, slot, text }: Doubt): string {
  const name = readable(`{${slot}}`);
  return [
    t('I did not understand that for certain, so I did nothing: is “{text}” one {name}?', { text, name }),
    t('I know “{example}”. Say one thing at a time; what belongs together goes in quotes.', {
      example: readable(example),
    }),
  ].join('\n');
}

/** The question which tool was meant, when several match equally well. */
function askWhich(matches: readonly Match[]): string {
  const choices = matches.map(({ tool, example }) => `- ${readable(example)} (${shorten(tool.description)})`);
  return [t('That could mean more than one thing. Please say it so that only one of these fits:'), ...choices].join(
    '\n',
  );
}

function shorten(description: string): string {
  const sentence = description.split(/(?<=[.!?])\s/)[0] ?? description;
  return sentence.replace(/[.!?]$/, '');
}

const OFFLINE_MODEL: Family = {
  names: /^/,
  contextTokens: 1_000_000,
  images: false,
  cache: NO_CACHE,
  price: { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
  prefill: false,
};

/** The provider when nothing is connected: without server, key and settings. */
export const OFFLINE: ProviderDefinition = {
  name: 'offline',
  title: 'the offline model',
  autoRank: Number.POSITIVE_INFINITY,
  because: 'neither a key nor a base URL is set',
  settings: {},
  environment: {},
  vendorConfig: {},
  impliedBy: [],
  takesHeadersAndBody: false,
  variables: {},
  needsKey: false,
  onlyModel: 'offline',
  statusNote: 'Set `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, or a base URL, to connect a language model.',
  maxTemperature: 2,
  familyOf: () => OFFLINE_MODEL,
  fromEnvironment: () => ({
    isSetUp: true,
    problem: undefined,
    model: 'offline',
    missingModel: '',
    embeddingModel: undefined,
    connection: {
      definition: OFFLINE,
      source: { provider: 'offline' },
      hasKey: false,
      details: [],
      open: ({ random }) => createOfflineProvider(random),
    },
  }),
};
