import {
  type DayLimit,
  formatCount,
  formatUsd,
  option,
  requireGuildId,
  subcommand,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import { isLimited } from './budgets.js';
import {
  type BudgetEditor,
  type Limit,
  type LimitChange,
  type LimitName,
  nameOf,
  OFF,
  roleOf,
  textOfLimit,
  WHOSE,
  type Whose,
} from './guild-budgets.js';
import { dayOf, NO_USE, usedIn } from './receipts.js';
import type { AccountsContext } from './service.js';

/** `!budget`: limits on use in this server. */
export function registerBudgetCommands(
  { group, collections: stores, services: { clock } }: AccountsContext,
  budgets: BudgetEditor,
): void {
  const whose = z.enum(WHOSE).describe('server: all together; channel: each channel; member: each member');
  const amount = option.rest().describe('Such as 5 usd a day, 2M tokens a month, off, or off tokens a month');

  group({
    name: 'budget',
    description: 'The budgets of this server',
    access: { tier: 'mod', where: 'guild' },
    help: 'Days and months are those of UTC. The limits of the configuration files and of the bot’s owner stand above what is chosen here. `off` takes all limits back, `off tokens a month` that one.',
    commands: [
      subcommand({
        name: 'show',
        reads: true,
        description: 'Show the limits of this server, and what is used of them',
        async run(ctx) {
          const guildId = requireGuildId(ctx.actor);
          const { chosen, most, roles } = await budgets.read(guildId);
          const account = await stores.guildAccounts.of(guildId).get();
          const now = clock.now();
          const today = account.days[dayOf(now)] ?? NO_USE;
          const month = usedIn(account, now, 'month');
          await ctx.reply(
            [
              ...WHOSE.map((name) => lineOf(name, chosen[name], most[name])),
              ...Object.entries(roles).map(([id, one]) =>
                t('Members of {role}: {limit}.', { role: roleOf(id, guildId), limit: textOfLimit(one) }),
              ),
              t('Used today: {day}. This month: {month}.', { day: textOfUse(today), month: textOfUse(month) }),
            ].join('\n'),
          );
        },
      }),
      subcommand({
        name: 'set',
        description: 'Limit what this server, each channel or each member may use',
        access: { tier: 'admin' },
        options: { whose, amount },
        examples: ['budget set server 5 usd a day', 'budget set member 200k tokens a day', 'budget set server off'],
        run: async (ctx, { whose: name, amount: typed }) =>
          ctx.reply(await budgets.set(requireGuildId(ctx.actor), name, readAmount(typed))),
      }),
      subcommand({
        name: 'role',
        description: 'Give the members of a role another limit than other members have',
        access: { tier: 'admin' },
        options: { role: option.role().describe('The role'), amount },
        examples: ['budget role @Supporters 1M tokens a day', 'budget role @Supporters off'],
        run: async (ctx, { role, amount: typed }) =>
          ctx.reply(await budgets.setRole(requireGuildId(ctx.actor), role.id, readAmount(typed))),
      }),
      subcommand({
        name: 'ceiling',
        description: 'Set the highest limits that the admins of this server can choose',
        access: { tier: 'botOwner' },
        options: { whose, amount },
        examples: ['budget ceiling server 20 usd a month'],
        run: async (ctx, { whose: name, amount: typed }) =>
          ctx.reply(await budgets.setCeiling(requireGuildId(ctx.actor), name, readAmount(typed))),
      }),
    ],
  });
}

const UNIT = '(usd|\\$|dollars?|tokens?)';
const PERIOD = '(?:(?:a|per|each|\\/)\\s*)?(day|month)';
const AMOUNT = new RegExp(`^(\\$)?\\s*(\\d+(?:[.,]\\d+)?)\\s*([km])?\\s*${UNIT}?\\s*(?:${PERIOD})?$`, 'i');
const ALL_OFF = /^(?:off|none|no limit)$/i;
const ONE_OFF = new RegExp(`^(?:off|none|no)\\s+${UNIT}\\s*${PERIOD}$`, 'i');
const TIMES: Readonly<Record<string, number>> = { k: 1_000, m: 1_000_000 };

/** Parses `5 usd a day`, `$20 a month`, `200k tokens`, `off`, `off usd a day`. @throws UserError */
export function readAmount(text: string): LimitChange {
  const typed = text.trim();
  if (ALL_OFF.test(typed)) return OFF;
  const [, offUnit, offPeriod = ''] = ONE_OFF.exec(typed) ?? [];
  if (offUnit !== undefined) return { [limitName(isMoney(offUnit), offPeriod)]: undefined };
  const [, sign, number = '', times = '', unit = '', period = 'day'] = AMOUNT.exec(typed) ?? [];
  const inMoney = sign !== undefined || isMoney(unit);
  if (number === '' || (!inMoney && unit === ''))
    throw new UserError(t('Please write an amount such as `5 usd a day`, `2M tokens a month` or `off`.'));
  const value = Number(number.replace(',', '.')) * (TIMES[times.toLowerCase()] ?? 1);
  return { [limitName(inMoney, period)]: inMoney ? value : Math.round(value) };
}

const isMoney = (unit: string) => /^(?:usd|\$|dollar)/i.test(unit);

function limitName(inMoney: boolean, period: string): LimitName {
  const isDay = period.toLowerCase() === 'day';
  if (inMoney) return isDay ? 'usdPerDay' : 'usdPerMonth';
  return isDay ? 'tokensPerDay' : 'tokensPerMonth';
}

/** Units as they are typed after a number. */
export const UNITS: Readonly<Record<LimitName, string>> = {
  usdPerDay: 'usd a day',
  usdPerMonth: 'usd a month',
  tokensPerDay: 'tokens a day',
  tokensPerMonth: 'tokens a month',
};

function lineOf(whose: Whose, chosen: Limit, most: DayLimit): string {
  const values = { whose: nameOf(whose), limit: textOfLimit(chosen) };
  if (!isLimited(most)) return t('{whose}: {limit}.', values);
  return t('{whose}: {limit}; the owner of the bot allows at most {ceiling}.', {
    ...values,
    ceiling: textOfLimit(most),
  });
}

const textOfUse = ({ tokens, usd }: { readonly tokens: number; readonly usd: number }) =>
  t('{usd}, {tokens} tokens', { usd: formatUsd(usd), tokens: formatCount(tokens) });
