import {
  type Actor,
  homeChannelOf,
  missingSentences,
  type Receipt,
  TIERS,
  t,
  tokensOf,
  UserError,
  usageText,
  type WebBlock,
  type WebLink,
  type WebRequest,
  type WebRow,
  type WebValue,
  z,
} from '@cinnabar/sdk';
import { registerPromptPage, requestsBlock } from './prompt-page.js';
import type { PromptStore } from './prompts.js';
import {
  type Account,
  addSums,
  dayOf,
  type GuildAccount,
  lastDays,
  NO_USE,
  receiptsOf,
  type Share,
  type Sum,
  shareSchema,
  sumSchema,
  usedIn,
} from './receipts.js';
import type { AccountsContext } from './service.js';

const DAYS = 31;
const MOST_RECEIPTS = 100;
const MOST_SERVERS = 50;

/** The pages for `!cost` and `!why`: money and tokens by day, and the sources of each answer. */
export function registerPages(context: AccountsContext, prompts: Pick<PromptStore, 'of'>): void {
  registerCostPages(context);
  registerAnswerPages(context, prompts);
}

function registerCostPages(context: AccountsContext): void {
  const { page, client, collections: stores, question, services } = context;
  const { access, clock } = services;
  const isModerator = async (actor: Actor) => TIERS.indexOf(await access.tierOf(actor)) >= TIERS.indexOf('mod');

  page({
    name: 'cost',
    title: 'Cost',
    description: 'The usage of answers, by day (UTC).',
    about: 'guild',
    group: 'agents',
    access: { command: 'cost' },
    async view({ actor }) {
      const { guildId, userId } = actor;
      if (guildId === null) return { blocks: [] };
      const own = await stores.memberAccounts.of({ userId, guildId }).get();
      const mine: readonly WebBlock[] = [{ kind: 'section', title: t('You'), blocks: accountBlocks(own, clock.now()) }];
      if (!(await isModerator(actor))) return { blocks: mine };
      const guild = await stores.guildAccounts.of(guildId).get();
      return {
        blocks: [
          ...accountBlocks(guild, clock.now()),
          ...shareBlocks(guild.shares, 'model', clock.now(), OF_GUILD.answers),
          ...shareBlocks(guild.shares, 'userId', clock.now(), OF_GUILD.answers),
          channelsToday(guild, clock.now()),
          ...mine,
        ],
      };
    },
    async card({ actor: { guildId, userId }, actor }) {
      if (guildId === null) return [];
      const account = (await isModerator(actor))
        ? stores.guildAccounts.of(guildId)
        : stores.memberAccounts.of({ userId, guildId });
      return [figures(await account.get(), clock.now())];
    },
  });

  const inServers = question({
    name: 'cost',
    input: z.object({}),
    answer: z.object({
      days: z.record(z.string(), sumSchema),
      models: z.array(shareSchema).default([]),
      servers: z.array(serverUse),
    }),
    async run() {
      const now = clock.now();
      const accounts: (readonly [guildId: string, account: GuildAccount])[] = [];
      for await (const entry of stores.guildAccounts.entries()) accounts.push(entry);
      const month = accounts.map(([guildId, account]) => ({
        guildId,
        name: client.guilds.cache.get(guildId)?.name ?? guildId,
        sum: usedIn(account, now, 'month'),
      }));
      return {
        days: addDays(
          accounts.map(([, account]) => account),
          now,
        ),
        models: addShares(accounts.flatMap(([, { shares }]) => shares.filter(({ model }) => model !== undefined))),
        servers: mostUsed(month),
      };
    },
  });

  page({
    name: 'bot-cost',
    title: 'Cost',
    description: 'The usage of answers in all servers, by day (UTC).',
    about: 'bot',
    group: 'operation',
    access: { tier: 'botOwner' },
    async view() {
      const now = clock.now();
      const known = await inServers.everywhere({});
      const rows = mostUsed(known.answers.flatMap(({ servers }) => servers)).map(
        ({ guildId, name, sum }): WebRow => ({
          id: guildId,
          cells: [name, ...sumCells(sum, { page: 'accounts/answers', guildId })],
          link: { page: 'accounts/cost', guildId },
        }),
      );
      return {
        blocks: [
          ...missingSentences(known).map((text): WebBlock => ({ kind: 'notice', tone: 'warning', text })),
          ...accountBlocks({ days: addDays(known.answers, now) }, now, OF_BOT),
          ...shareBlocks(addShares(known.answers.flatMap(({ models }) => models)), 'model', now, OF_BOT.answers),
          {
            kind: 'table',
            title: t('This month by server'),
            columns: [{ name: t('Server') }, ...SUM_COLUMNS()],
            rows,
            empty: t('Nothing has been used this month.'),
          },
        ],
      };
    },
  });
}

type Days = Pick<Account, 'days'>;
type SharedBy = 'model' | 'userId';

const serverUse = z.object({ guildId: z.string(), name: z.string(), sum: sumSchema });

/** The members with the highest use in this month. */
function mostUsed(servers: readonly z.output<typeof serverUse>[]) {
  return servers
    .filter(({ sum }) => sum.runs > 0)
    .sort((one, other) => other.sum.usd - one.sum.usd || other.sum.tokens - one.sum.tokens)
    .slice(0, MOST_SERVERS);
}

function addDays(accounts: readonly { readonly days: Readonly<Record<string, Sum>> }[], now: number): Days['days'] {
  return Object.fromEntries(
    lastDays(now, DAYS).map((date) => [date, addSums(accounts.map(({ days }) => days[date] ?? NO_USE))]),
  );
}

const OF_GUILD = { cost: { page: 'accounts/cost' }, answers: { page: 'accounts/answers' } };
const OF_BOT = { cost: { page: 'accounts/bot-cost' }, answers: { page: 'accounts/bot-cost' } };

function figures(account: Days, now: number, { cost, answers } = OF_GUILD): WebBlock {
  const today = account.days[dayOf(now)] ?? NO_USE;
  const month = usedIn(account, now, 'month');
  return {
    kind: 'figures',
    figures: [
      { name: t('Today'), value: { usd: today.usd }, ...unpriced(today), link: cost },
      { name: t('This month'), value: { usd: month.usd }, ...unpriced(month), link: cost },
      { name: t('Answers today'), value: { count: today.runs, link: answers } },
      { name: t('Tokens today'), value: { measure: today.tokens }, link: cost },
    ],
  };
}

const unpriced = (sum: Sum) =>
  sum.unpriced === 0
    ? {}
    : {
        hint: t('without {count, plural, one {# answer} other {# answers}} of unknown price', { count: sum.unpriced }),
      };

function accountBlocks(account: Days, now: number, links = OF_GUILD): readonly WebBlock[] {
  const dates = lastDays(now, DAYS).toReversed();
  const points = (of: (sum: Sum) => number) =>
    dates.map((date) => [Date.parse(`${date}T00:00:00Z`), of(account.days[date] ?? NO_USE)] as const);
  const isUsed = (of: (sum: Sum) => number) => dates.some((date) => of(account.days[date] ?? NO_USE) > 0);
  return [
    figures(account, now, links),
    {
      kind: 'plot',
      title: t('Money'),
      style: 'bars',
      unit: 'usd',
      series: isUsed(({ usd }) => usd) ? [{ name: t('US dollars'), points: points(({ usd }) => usd) }] : [],
      empty: t('Nothing has cost money in the last {days} days.', { days: DAYS }),
    },
    {
      kind: 'plot',
      title: t('Tokens'),
      style: 'bars',
      unit: 'number',
      series: isUsed(({ tokens }) => tokens)
        ? [
            { name: t('read from the cache'), points: points(({ usage }) => usage.cacheReadTokens) },
            { name: t('other prompts'), points: points(({ usage }) => usage.inputTokens + usage.cacheCreationTokens) },
            { name: t('answers'), points: points(({ usage }) => usage.outputTokens) },
          ]
        : [],
      empty: t('Nothing has been used in the last {days} days.', { days: DAYS }),
    },
  ];
}

/** One for each model and day. */
function addShares(shares: readonly Share[]): readonly Share[] {
  const sums = new Map<string, Share>();
  for (const share of shares) {
    const key = `${share.day} ${share.model}`;
    const { runs, tokens, usd } = sums.get(key) ?? { runs: 0, tokens: 0, usd: 0 };
    sums.set(key, { ...share, runs: share.runs + runs, tokens: share.tokens + tokens, usd: share.usd + usd });
  }
  return [...sums.values()];
}

/** Maximum number of series with a separate colour; all others are combined. */
const SERIES = 3;
const MOST_SHARES = 20;

/** The use by member or model, for each day and in total. */
function shareBlocks(all: readonly Share[], by: SharedBy, now: number, answers: WebLink): readonly WebBlock[] {
  const dates = lastDays(now, DAYS).toReversed();
  const shares = all.filter((one) => one[by] !== undefined && dates.includes(one.day));
  const add = (own: readonly Share[], of: 'runs' | 'tokens' | 'usd') => own.reduce((sum, one) => sum + one[of], 0);
  // When no price is known, tokens also show who used the most.
  const measure = add(shares, 'usd') > 0 ? 'usd' : 'tokens';
  const names = [...new Set(shares.map((one) => one[by] ?? ''))]
    .map((name) => ({ name, own: shares.filter((one) => one[by] === name) }))
    .sort((one, other) => add(other.own, measure) - add(one.own, measure));
  const drawn = names.filter(({ own }) => add(own, measure) > 0);
  const others = drawn.slice(SERIES).flatMap(({ own }) => own);
  const points = (own: readonly Share[]) =>
    dates.map(
      (date) =>
        [
          Date.parse(`${date}T00:00:00Z`),
          add(
            own.filter(({ day }) => day === date),
            measure,
          ),
        ] as const,
    );
  const empty = t('Nothing has been used in the last {days} days.', { days: DAYS });
  const isModel = by === 'model';
  return [
    {
      kind: 'plot',
      title: isModel ? t('By model') : t('By member'),
      style: 'bars',
      unit: measure === 'usd' ? 'usd' : 'number',
      series: [
        ...drawn
          .slice(0, SERIES)
          .map(({ name, own }) => ({ name: isModel ? name : `<@${name}>`, points: points(own) })),
        ...(others.length === 0 ? [] : [{ name: t('others'), points: points(others) }]),
      ],
      empty,
    },
    {
      kind: 'table',
      title: isModel
        ? t('Models of the last {days} days', { days: DAYS })
        : t('Members of the last {days} days', { days: DAYS }),
      columns: [{ name: isModel ? t('Model') : t('Member') }, ...SUM_COLUMNS()],
      rows: names.slice(0, MOST_SHARES).map(({ name, own }) => ({
        id: name,
        cells: [
          isModel ? name : { user: name },
          { usd: add(own, 'usd') },
          { measure: add(own, 'tokens') },
          { count: add(own, 'runs'), link: answers },
        ],
      })),
      empty,
    },
  ];
}

const SUM_COLUMNS = () => [
  { name: t('Money'), numeric: true },
  { name: t('Tokens'), numeric: true },
  { name: t('Answers'), numeric: true },
];
const sumCells = ({ usd, tokens, runs }: Sum, answers: WebLink): readonly WebValue[] => [
  { usd },
  { measure: tokens },
  { count: runs, link: answers },
];

function channelsToday({ channels }: Account, now: number): WebBlock {
  const today = channels?.day === dayOf(now) ? Object.entries(channels.tokens) : [];
  return {
    kind: 'table',
    title: t('Today by channel'),
    columns: [{ name: t('Channel') }, { name: t('Tokens'), numeric: true }],
    rows: today
      .sort(([, one], [, other]) => other - one)
      .map(([id, tokens]) => ({
        id,
        cells: [{ channel: id }, { measure: tokens }],
        link: { page: 'accounts/answers', query: { channel: id } },
      })),
    empty: t('No channel has used anything today.'),
  };
}

function registerAnswerPages(context: AccountsContext, prompts: Pick<PromptStore, 'of'>): void {
  const {
    page,
    client,
    collections: stores,
    services: { access },
    settings,
  } = context;
  /** The receipts of a channel, if the person can read that channel. @throws UserError */
  const receiptsIn = async ({ actor, query: { channel = '' } }: WebRequest): Promise<readonly Receipt[]> => {
    const { guildId } = actor;
    if (guildId === null || !(await access.mayEnter(actor, { guildId, channelId: channel }, ['ReadMessageHistory'])))
      throw new UserError(t('There is no such channel that you and I can read.'));
    return receiptsOf(stores.receipts, channel, undefined);
  };

  /** @throws UserError */
  const receiptOf = async (request: WebRequest): Promise<Receipt> => {
    const { mind, id } = request.query;
    const receipt = (await receiptsIn(request)).find((one) => one.mind === mind && one.id === id);
    if (receipt === undefined) throw new UserError(t('I have not answered anything here that I have a receipt of.'));
    return receipt;
  };

  page({
    name: 'answers',
    title: 'Answers',
    description: 'Why the bot answered, from what, and what it cost.',
    about: 'guild',
    group: 'agents',
    access: { command: 'why' },
    async view(request) {
      const { channel } = request.query;
      const search: WebBlock = {
        kind: 'search',
        fields: [
          {
            name: 'channel',
            label: t('Channel'),
            control: { kind: 'channel' },
            ...(channel === undefined ? {} : { value: channel }),
          },
        ],
        submit: t('Show its answers'),
      };
      if (channel === undefined)
        return {
          blocks: [
            search,
            { kind: 'text', text: t('Choose a channel: its latest answers are shown, with their receipts.') },
          ],
        };
      const receipts = await receiptsIn(request);
      return {
        blocks: [
          search,
          {
            kind: 'table',
            columns: [
              { name: t('When') },
              { name: t('Responder') },
              { name: t('Why') },
              { name: t('For') },
              { name: t('Model') },
              { name: t('Tokens'), numeric: true },
              { name: t('Cost'), numeric: true },
            ],
            rows: receipts.slice(0, MOST_RECEIPTS).map((receipt) => ({
              id: `${receipt.mind}/${receipt.id}`,
              cells: [
                { time: receipt.at },
                receipt.mind,
                receipt.trigger,
                { user: receipt.actor.userId },
                receipt.model,
                { measure: tokensOf(receipt.usage) },
                costValue(receipt),
              ],
              link: { page: 'accounts/answer', query: { channel, mind: receipt.mind, id: receipt.id } },
            })),
            empty: t('I have not answered anything here that I have a receipt of.'),
          },
        ],
      };
    },
  });

  page({
    name: 'answer',
    title: 'Answer',
    about: 'guild',
    group: 'hidden',
    access: { command: 'why' },
    async view(request) {
      const receipt = await receiptOf(request);
      const home = await homeChannelOf(client, receipt.actor.channelId);
      const blocks = receiptBlocks(receipt, home);
      // Prompts contain messages of others, also from places that the reader of the receipt cannot read.
      if ((await access.tierOf(request.actor)) !== 'botOwner') return { title: receipt.trigger, blocks };
      const { keepPrompts } = await settings.global.get();
      const requests = requestsBlock(receipt, await prompts.of(receipt), keepPrompts);
      return { title: receipt.trigger, blocks: [...blocks, requests] };
    },
  });

  registerPromptPage(context, { receiptOf, promptsOf: prompts.of });
}

const costValue = ({ cost }: Pick<Receipt, 'cost'>): WebValue => (cost === null ? t('not known') : { usd: cost });

function receiptBlocks(receipt: Receipt, homeId: string): readonly WebBlock[] {
  const {
    actor,
    at,
    calls,
    configured = [],
    details,
    messageIds,
    missCause,
    mind,
    mode,
    model,
    notes = [],
    provider,
    tools,
    usage,
  } = receipt;
  const [messageId] = messageIds;
  const message: WebValue =
    messageId === undefined
      ? t('nothing was said')
      : {
          link: { discord: `https://discord.com/channels/${actor.guildId ?? '@me'}/${actor.channelId}/${messageId}` },
          text: t('Show it in Discord'),
        };
  return [
    {
      kind: 'facts',
      facts: [
        { name: t('When'), value: { time: at } },
        { name: t('Asked by'), value: { user: actor.userId } },
        { name: t('Channel'), value: { channel: homeId } },
        { name: t('Message'), value: message },
        { name: t('Responder'), value: mind },
        { name: t('Model'), value: [model, provider, mode].filter((part) => part !== undefined).join(' · ') },
        { name: t('Calls'), value: { measure: calls } },
        { name: t('Tokens'), value: usageText(usage) },
        { name: t('Cost'), value: costValue(receipt) },
        ...(missCause === undefined ? [] : [{ name: t('Cache miss'), value: missCause }]),
      ],
    },
    {
      kind: 'table',
      title: t('Tools'),
      columns: [{ name: t('Tool') }, { name: t('Outcome') }],
      rows: tools.map(({ name, outcome }, index) => ({ id: String(index), cells: [{ code: name }, outcome] })),
      empty: t('It used no tools.'),
    },
    ...(details.length === 0
      ? []
      : [{ kind: 'facts', title: t('How it came to it'), facts: details.map(splitDetail) } as const]),
    ...[...configured.map((one) => t('Configured: {setting}', { setting: one })), ...notes].map(
      (text) => ({ kind: 'notice', tone: 'plain', text }) as const,
    ),
  ];
}

/** The text before the first colon is the heading. */
function splitDetail(detail: string): { readonly name: string; readonly value: string } {
  const colon = detail.indexOf(': ');
  return colon < 0 ? { name: '', value: detail } : { name: detail.slice(0, colon), value: detail.slice(colon + 2) };
}
