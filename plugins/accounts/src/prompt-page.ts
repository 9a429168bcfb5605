import { type Receipt, t, UserError, type WebBlock, type WebRequest, type WebStep } from '@cinnabar/sdk';
import type { KeptPrompts, KeptRequest } from './prompts.js';
import type { AccountsContext } from './service.js';

/** The query for a receipt's page, or for one of its requests. */
const queryOf = ({ actor, mind, id }: Receipt, more: Readonly<Record<string, string>> = {}) => ({
  channel: actor.channelId,
  mind,
  id,
  ...more,
});

/** A receipt's links to its requests, for the owner of the bot. */
export function requestsBlock(receipt: Receipt, kept: KeptPrompts | undefined, isOn: boolean): WebBlock {
  if (!isOn)
    return {
      kind: 'notice',
      tone: 'plain',
      text: t('Prompts are not stored. `set accounts keepPrompts true` stores them from then on, for you alone.'),
    };
  return {
    kind: 'table',
    title: t('What the model was told'),
    columns: [
      { name: t('When') },
      { name: t('Model') },
      { name: t('Messages'), numeric: true },
      { name: t('Tools'), numeric: true },
    ],
    rows: (kept?.requests ?? []).map(({ at, model, messages, tools }, index) => {
      const link = { page: 'accounts/prompt', query: queryOf(receipt, { request: String(index) }) };
      return {
        id: String(index),
        cells: [{ time: at }, model ?? t('not known'), { count: messages.length, link }, { count: tools.length, link }],
        link,
      };
    }),
    empty: t('Nothing of it is kept: it came before that was switched on, or is too old.'),
  };
}

interface PromptSources {
  /** The receipt in the page's query. @throws UserError */
  readonly receiptOf: (request: WebRequest) => Promise<Receipt>;
  readonly promptsOf: (receipt: Receipt) => Promise<KeptPrompts | undefined>;
}

/** A complete request to a model. */
export function registerPromptPage({ page }: AccountsContext, { receiptOf, promptsOf }: PromptSources): void {
  page({
    name: 'prompt',
    title: 'Prompt',
    description: 'What the model was told, as it was sent, without secrets and pictures.',
    about: 'guild',
    group: 'hidden',
    access: { tier: 'botOwner' },
    async view(request) {
      const receipt = await receiptOf(request);
      const kept = await promptsOf(receipt);
      const shown = kept?.requests.find((_, index) => String(index) === request.query.request);
      if (kept === undefined || shown === undefined)
        throw new UserError(t('The prompts are not stored, or no longer.'));
      return { blocks: promptBlocks(receipt, kept, shown) };
    },
  });
}

function promptBlocks(receipt: Receipt, { leftOut }: KeptPrompts, request: KeptRequest): readonly WebBlock[] {
  const { at, model, parameters, system, tools } = request;
  return [
    {
      kind: 'facts',
      facts: [
        {
          name: t('Answer'),
          value: { link: { page: 'accounts/answer', query: queryOf(receipt) }, text: receipt.trigger },
        },
        { name: t('When'), value: { time: at } },
        { name: t('Model'), value: model ?? t('not known') },
        ...parameters.map(({ name, value }) => ({ name, value: { code: value } })),
      ],
    },
    ...(leftOut === 0
      ? []
      : [
          {
            kind: 'notice',
            tone: 'warning',
            text: t('{count, plural, one {# request was} other {# requests were}} too large to be kept.', {
              count: leftOut,
            }),
          } as const,
        ]),
    ...(system === '' ? [] : [{ kind: 'code', title: t('System prompt'), text: system } as const]),
    ...(tools.length === 0 ? [] : [{ kind: 'code', title: t('Tools'), text: tools.join('\n') } as const]),
    {
      kind: 'steps',
      title: t('Messages'),
      steps: request.messages.map(stepOf),
      empty: t('It was told nothing else.'),
    },
  ];
}

/** A step of the page with the parts of a message. Each part is a separate block, so that no text can look like another part. */
function stepOf({ speaker, isOwn, parts, cachedFor }: KeptRequest['messages'][number], index: number): WebStep {
  return {
    id: String(index),
    title: speaker,
    tone: isOwn ? 'good' : 'plain',
    open: true,
    blocks: [
      ...parts
        .filter(({ text }) => text !== '')
        .map(({ kind, text, name = '' }): WebBlock => {
          if (kind === 'call') return { kind: 'code', title: t('calls {tool}', { tool: name }), text };
          if (kind === 'result') return { kind: 'code', title: t('result of a tool'), text };
          return { kind: 'code', text: kind === 'picture' ? t('[picture: {type}]', { type: text }) : text };
        }),
      ...(cachedFor === undefined
        ? []
        : [
            {
              kind: 'notice',
              tone: 'busy',
              text: t('Up to here it was to be read from the cache or written to it, for {ttl}.', {
                ttl: cachedFor === '1h' ? t('an hour') : t('five minutes'),
              }),
            } as const,
          ]),
    ],
  };
}
