import {
  type Actor,
  type DayLimit,
  formatCount,
  formatUsd,
  missingSentences,
  requireGuildId,
  t,
  UserError,
  type WebBlock,
  type WebButton,
  type WebField,
  type WebResult,
  type WebRow,
  webAct,
  z,
} from '@cinnabar/sdk';
import { readAmount, UNITS } from './budget-commands.js';
import { isLimited, type LimitsInForce, stricterLimit } from './budgets.js';
import {
  type BudgetEditor,
  type BudgetsSet,
  limitSchema,
  NAMES,
  nameOf,
  OFF,
  roleOf,
  textOfLimit,
  WHOSE,
} from './guild-budgets.js';
import { type Account, dayOf, NO_USE, type Sum, usedIn } from './receipts.js';
import type { AccountsContext } from './service.js';

const SERVERS_A_PAGE = 50;

const size = z.object({ amount: z.number().min(0), unit: z.enum(NAMES).optional() });
const ofWhose = size.extend({ whose: z.enum(WHOSE) });
const ofRole = size.extend({ role: z.string().optional() });

/** Removes the limit with this unit, or all limits. */
const lifted = z.object({ unit: z.enum(NAMES).optional() });
const ofWhoseLifted = lifted.extend({ whose: z.enum(WHOSE) });
const ofRoleLifted = lifted.extend({ role: z.string() });

/** The arguments of `!budget`: `5 usd a day`, `off usd a day`. */
const typed = ({ amount, unit }: { readonly amount?: number } & z.output<typeof lifted>): string =>
  unit === undefined ? String(amount ?? OFF) : `${amount ?? OFF} ${UNITS[unit]}`;

/** The pages for `!budget`: the limits of one server, and those for all servers. */
export function registerBudgetPages(context: AccountsContext, budgets: BudgetEditor, ofFiles: LimitsInForce): void {
  registerGuildPage(context, budgets);
  registerBotPage(context, budgets, ofFiles);
}

function registerGuildPage(
  { page, client, collections: { guildAccounts }, services: { clock, commands } }: AccountsContext,
  budgets: BudgetEditor,
): void {
  const may = async (actor: Actor, command: string): Promise<boolean> =>
    (await commands.explain(actor, command)).some(({ decision }) => decision.allowed);

  page({
    name: 'budgets',
    title: 'Budgets',
    description: 'The budgets of this server, by day and month (UTC).',
    about: 'guild',
    group: 'agents',
    access: { command: 'budget show' },
    async view({ actor }) {
      const guildId = requireGuildId(actor);
      const set = await budgets.read(guildId);
      const [maySet, maySetRoles, maySetCeilings] = await Promise.all([
        may(actor, 'budget set'),
        may(actor, 'budget role'),
        may(actor, 'budget ceiling'),
      ]);
      const roles = Object.entries(set.roles).map(
        ([id, limit]): LimitedRow => ({
          id,
          name: t('Members of {role}', { role: roleOf(id, guildId) }),
          limit,
          most: set.most.member,
          ...(maySetRoles ? { act: 'lift-role', input: { role: id } } : {}),
        }),
      );
      return {
        blocks: [
          useFigures(await guildAccounts.of(guildId).get(), set, clock.now()),
          {
            kind: 'table',
            title: t('Limits of this server'),
            columns: [{ name: t('For') }, { name: t('Limit') }, { name: t('The owner of the bot allows at most') }],
            rows: [
              ...WHOSE.map(
                (whose): LimitedRow => ({
                  id: whose,
                  name: nameOf(whose),
                  limit: set.chosen[whose],
                  most: set.most[whose],
                  ...(maySet ? { act: 'lift', input: { whose } } : {}),
                }),
              ),
              ...roles,
            ].flatMap(rowsOf),
            empty: '',
          },
          {
            kind: 'text',
            text: t(
              'Of server, channel and member the strictest limit counts. The limit of a role takes the place of the one for members; of several roles the most generous counts.',
            ),
          },
          ...(maySet ? [amountForm('set', t('Set a limit'), WHOSE_FIELD())] : []),
          ...(maySetRoles ? [amountForm('role', t('Give a role another limit'), ROLE_FIELD())] : []),
          ...(maySetCeilings ? [ceilingSection(set)] : []),
        ],
      };
    },
    acts: {
      set: webAct({
        effect: 'changes',
        input: ofWhose,
        access: { command: 'budget set' },
        audit: (input) => `budget set ${input.whose} ${typed(input)}`,
        run: (input, { actor }) => budgets.set(requireGuildId(actor), input.whose, readAmount(typed(input))),
      }),
      role: webAct({
        effect: 'changes',
        input: ofRole,
        access: { command: 'budget role' },
        audit: (input) => `budget role <@&${input.role}> ${typed(input)}`,
        run(input, { actor }) {
          const guildId = requireGuildId(actor);
          const { role = '' } = input;
          if (client.guilds.cache.get(guildId)?.roles.cache.has(role) !== true)
            throw new UserError(t('Choose a role of this server.'));
          return budgets.setRole(guildId, role, readAmount(typed(input)));
        },
      }),
      ceiling: webAct({
        effect: 'changes',
        input: ofWhose,
        access: { command: 'budget ceiling' },
        audit: (input) => `budget ceiling ${input.whose} ${typed(input)}`,
        run: (input, { actor }) => budgets.setCeiling(requireGuildId(actor), input.whose, readAmount(typed(input))),
      }),
      lift: webAct({
        input: ofWhoseLifted,
        effect: 'destroys',
        question: ({ whose = 'server', unit }) => liftQuestion(nameOf(whose), unit),
        access: { command: 'budget set' },
        audit: (input) => `budget set ${input.whose} ${typed(input)}`,
        async run(input, { actor }) {
          const guildId = requireGuildId(actor);
          const { chosen } = await budgets.read(guildId);
          const said = await budgets.set(guildId, input.whose, readAmount(typed(input)));
          return { said, ...undoOfLift('set', input, chosen[input.whose]) };
        },
      }),
      'lift-role': webAct({
        input: ofRoleLifted,
        effect: 'destroys',
        question: ({ role = '', unit }) => liftQuestion(t('Members of {role}', { role: `<@&${role}>` }), unit),
        access: { command: 'budget role' },
        audit: (input) => `budget role <@&${input.role}> ${typed(input)}`,
        async run(input, { actor }) {
          const guildId = requireGuildId(actor);
          const { roles } = await budgets.read(guildId);
          const said = await budgets.setRole(guildId, input.role, readAmount(typed(input)));
          return { said, ...undoOfLift('role', input, roles[input.role] ?? {}) };
        },
      }),
      'lift-ceiling': webAct({
        input: ofWhoseLifted,
        effect: 'destroys',
        question: ({ whose = 'server', unit }) => liftQuestion(nameOf(whose), unit),
        access: { command: 'budget ceiling' },
        audit: (input) => `budget ceiling ${input.whose} ${typed(input)}`,
        async run(input, { actor }) {
          const guildId = requireGuildId(actor);
          const { ceiling } = await budgets.read(guildId);
          const said = await budgets.setCeiling(guildId, input.whose, readAmount(typed(input)));
          return { said, ...undoOfLift('ceiling', input, ceiling[input.whose]) };
        },
      }),
    },
  });
}

const liftQuestion = (name: string, unit: Unit | undefined): string =>
  unit === undefined
    ? t('Remove all limits of "{name}"? They end at once, and can be set again here.', { name })
    : t('Remove the limit of "{name}" in {unit}? It ends at once, and can be set again here.', {
        name,
        unit: unitName(unit),
      });

/** The undo of a removed limit; `undefined` for several limits, which are separate acts. */
function undoOfLift(act: string, input: z.output<typeof lifted>, former: DayLimit): Pick<WebResult, 'undo'> {
  const amount = input.unit === undefined ? undefined : former[input.unit];
  return amount === undefined ? {} : { undo: { act, input: { ...input, amount } } };
}

/** The server's use, and its limits. */
function useFigures(account: Account, { chosen, most }: BudgetsSet, now: number): WebBlock {
  const today = account.days[dayOf(now)] ?? NO_USE;
  const month = usedIn(account, now, 'month');
  const { usdPerDay, usdPerMonth, tokensPerDay, tokensPerMonth } = stricterLimit(chosen.server, most.server);
  const of = (limit: number | undefined, written: (limit: number) => string) =>
    limit === undefined ? {} : { hint: t('of {limit}', { limit: written(limit) }) };
  const link = { page: 'accounts/cost' };
  return {
    kind: 'figures',
    figures: [
      { name: t('Today'), value: { usd: today.usd }, link, ...of(usdPerDay, formatUsd) },
      { name: t('This month'), value: { usd: month.usd }, link, ...of(usdPerMonth, formatUsd) },
      { name: t('Tokens today'), value: { measure: today.tokens }, link, ...of(tokensPerDay, formatCount) },
      { name: t('Tokens this month'), value: { measure: month.tokens }, link, ...of(tokensPerMonth, formatCount) },
    ],
  };
}

interface LimitedRow {
  readonly id: string;
  readonly name: string;
  readonly limit: DayLimit;
  readonly most: DayLimit;
  /** The act that removes a limit; absent without the right to do so. */
  readonly act?: string;
  readonly input?: Readonly<Record<string, string>>;
}

/** One row for each limit, so that each can be removed. */
function rowsOf({ id, name, limit, most, act, input }: LimitedRow): readonly WebRow[] {
  const given = NAMES.filter((unit) => limit[unit] !== undefined);
  const lift = (unit: Unit | undefined): readonly WebButton[] =>
    act === undefined
      ? []
      : [{ act, label: t('Lift'), tone: 'danger', input: { ...input, ...(unit === undefined ? {} : { unit }) } }];
  const atMost = (shown: DayLimit) => (isLimited(shown) ? textOfLimit(shown) : null);
  // A role without limits is an entry, too: its members have no limits although others have some. It can be removed.
  const isFreeRole = input?.role !== undefined;
  if (given.length === 0)
    return [{ id, cells: [name, textOfLimit({}), atMost(most)], buttons: isFreeRole ? lift(undefined) : [] }];
  return given.map((unit) => ({
    id: `${id} ${unit}`,
    cells: [name, textOfLimit({ [unit]: limit[unit] }), atMost({ [unit]: most[unit] })],
    buttons: lift(unit),
  }));
}

const WHOSE_FIELD = (): WebField => ({
  name: 'whose',
  label: t('For'),
  control: { kind: 'choice', of: WHOSE.map((value) => ({ value, text: nameOf(value) })) },
  value: WHOSE[0],
});

const ROLE_FIELD = (): WebField => ({ name: 'role', label: t('Role'), control: { kind: 'role' } });

type Unit = (typeof NAMES)[number];

function unitName(unit: Unit): string {
  switch (unit) {
    case 'usdPerDay':
      return t('US dollars a day');
    case 'usdPerMonth':
      return t('US dollars a month');
    case 'tokensPerDay':
      return t('tokens a day');
    case 'tokensPerMonth':
      return t('tokens a month');
  }
}

const amountForm = (act: string, title: string, first: WebField): WebBlock => ({
  kind: 'form',
  act,
  title,
  fields: [
    first,
    {
      name: 'amount',
      label: t('At most'),
      hint: t('0: nothing may be used. Another limit in the same unit is replaced.'),
      control: { kind: 'number', min: 0 },
    },
    {
      name: 'unit',
      label: t('Unit'),
      control: {
        kind: 'choice',
        of: NAMES.map((value) => ({ value, text: unitName(value) })),
      },
      value: 'usdPerDay',
    },
  ],
  submit: t('Set the limit'),
});

/** For the owner of the bot: the maximum that the server's admins can choose. */
const ceilingSection = ({ ceiling, most }: BudgetsSet): WebBlock => ({
  kind: 'section',
  title: t('Above what the admins choose'),
  blocks: [
    {
      kind: 'text',
      text: t(
        'The highest limits that the admins of this server can choose; they also apply by themselves. The configuration files may set lower ones.',
      ),
    },
    {
      kind: 'table',
      title: t('Ceilings'),
      columns: [{ name: t('For') }, { name: t('Ceiling') }, { name: t('With the configuration files') }],
      rows: WHOSE.map(
        (whose): LimitedRow => ({
          id: whose,
          name: nameOf(whose),
          limit: ceiling[whose],
          most: most[whose],
          act: 'lift-ceiling',
          input: { whose },
        }),
      ).flatMap(rowsOf),
      empty: '',
    },
    amountForm('ceiling', t('Set a ceiling'), WHOSE_FIELD()),
  ],
});

const serverBudgets = z.object({
  guildId: z.string(),
  name: z.string(),
  most: limitSchema,
  chosen: limitSchema,
  usd: z.number(),
  tokens: z.number(),
});

function registerBotPage(
  { page, client, question, collections: { guildAccounts }, services: { clock } }: AccountsContext,
  budgets: BudgetEditor,
  ofFiles: LimitsInForce,
): void {
  /** Accounts with the name that have used the most in this month, and their number. */
  const inServers = question({
    name: 'budgets',
    input: z.object({ name: z.string(), most: z.number() }),
    answer: z.object({ count: z.number(), servers: z.array(serverBudgets) }),
    async run({ name, most: limit }) {
      const now = clock.now();
      const used = new Map<string, Sum>();
      for await (const [guildId, account] of guildAccounts.entries()) used.set(guildId, usedIn(account, now, 'month'));
      const found = [...client.guilds.cache.values()]
        .filter((guild) => guild.name.toLowerCase().includes(name.toLowerCase()))
        .map((guild) => ({ guildId: guild.id, name: guild.name, used: used.get(guild.id) ?? NO_USE }))
        .map(({ used: { usd, tokens }, ...guild }) => ({ ...guild, usd, tokens }));
      const servers = await Promise.all(
        mostUsed(found, limit).map(async (one) => {
          const { chosen, most } = await budgets.read(one.guildId);
          return { ...one, most: most.server, chosen: chosen.server };
        }),
      );
      return { count: found.length, servers };
    },
  });

  page({
    name: 'bot-budgets',
    title: 'Budgets',
    description: 'The budgets of all servers together, and of each.',
    about: 'bot',
    group: 'operation',
    access: { tier: 'botOwner' },
    async view({ query }) {
      const { name = '' } = query;
      const from = Math.max(0, Number.parseInt(query.from ?? '0', 10) || 0);
      const everywhere = await ofFiles(null);
      const known = await inServers.everywhere({ name, most: from + SERVERS_A_PAGE });
      const count = known.answers.reduce((sum, answer) => sum + answer.count, 0);
      const servers = mostUsed(
        known.answers.flatMap((answer) => answer.servers),
        from + SERVERS_A_PAGE,
      ).slice(from);
      const more = { page: 'accounts/bot-budgets', query: { ...query, from: String(from + SERVERS_A_PAGE) } };
      return {
        blocks: [
          ...missingSentences(known).map((text): WebBlock => ({ kind: 'notice', tone: 'warning', text })),
          {
            kind: 'facts',
            title: t('In the configuration files'),
            facts: [
              { name: t('Each server'), value: textOfLimit(everywhere.guild ?? {}) },
              { name: nameOf('channel'), value: textOfLimit(everywhere.channel ?? {}) },
              { name: nameOf('member'), value: textOfLimit(everywhere.member ?? {}) },
            ],
          },
          {
            kind: 'text',
            text: t(
              'They are `budgets` in `shared.yaml`, and in narrower files for one server, and hold as soon as the file is saved. A server in the list opens its budgets, with its ceiling.',
            ),
          },
          {
            kind: 'search',
            fields: [{ name: 'name', label: t('Name'), control: { kind: 'text' }, value: name, optional: true }],
            submit: t('Search'),
          },
          {
            kind: 'table',
            title: t('By server'),
            columns: [
              { name: t('Server') },
              { name: t('At most') },
              { name: t('Chosen by its admins') },
              { name: t('This month'), numeric: true },
              { name: t('Tokens'), numeric: true },
            ],
            rows: servers.map(
              ({ guildId, name: called, most, chosen, usd, tokens }): WebRow => ({
                id: guildId,
                cells: [called, textOfLimit(most), textOfLimit(chosen), { usd }, { measure: tokens }],
                link: { page: 'accounts/budgets', guildId },
              }),
            ),
            empty: t('The bot is in no such server.'),
            ...(count > from + SERVERS_A_PAGE ? { more } : {}),
          },
        ],
      };
    },
  });
}

const mostUsed = <S extends { readonly usd: number; readonly tokens: number }>(servers: readonly S[], most: number) =>
  servers.toSorted((one, other) => other.usd - one.usd || other.tokens - one.tokens).slice(0, most);
