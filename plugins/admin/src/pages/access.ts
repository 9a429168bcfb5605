import {
  type AccessRule,
  type Actor,
  CinnabarError,
  EVERYTHING,
  RULE_SUBJECTS,
  RULE_TARGETS,
  requireGuildId,
  t,
  textOfRuleSubject,
  textOfRuleTarget,
  UserError,
  type WebBlock,
  type WebField,
  type WebRow,
  webAct,
  z,
} from '@cinnabar/sdk';
import { ChannelType } from 'discord.js';
import { byPrecedence, decisionsFor, findTarget, keepsServerInHand, lockWarning } from '../access-commands.js';
import type { AdminContext } from '../context.js';
import { tierWord } from '../format.js';

const subject = z.object({
  user: z.string().optional(),
  role: z.string().optional(),
  channel: z.string().optional(),
});
const rule = z.object({
  effect: z.enum(['allow', 'deny']),
  target: z.object({ kind: z.enum(RULE_TARGETS), name: z.string() }),
  subject: z.object({ kind: z.enum(RULE_SUBJECTS), id: z.string().optional() }),
});

/** The page about access in a guild, with the reasons. */
export function registerAccessPage({ page, client, services }: AdminContext): void {
  const { access, accessRules, commands, tierRoles, tools } = services;

  /** The subject in the form; everyone without any. @throws UserError when several are given */
  const subjectOf = (guildId: string, given: z.output<typeof subject>): AccessRule['subject'] => {
    const named = Object.entries(given).filter(([, id]) => id !== undefined && id !== '');
    const [first, another] = named;
    if (another !== undefined) throw new UserError(t('Choose a member, a role or a channel, and not several of them.'));
    if (first === undefined || first[1] === guildId) return { kind: 'everyone' };
    const [kind, id = ''] = first;
    if (kind !== 'channel') return { kind: kind === 'user' ? 'user' : 'role', id };
    const isCategory = client.guilds.cache.get(guildId)?.channels.cache.get(id)?.type === ChannelType.GuildCategory;
    return { kind: isCategory ? 'category' : 'channel', id };
  };

  /** Checks access to `access deny` or `access allow`, which are separate commands with separate rules. @throws CINNABAR_ACCESS_DENIED */
  const assertMay = async (effect: AccessRule['effect'], actor: Actor) => {
    const [command] = await commands.explain(actor, `access ${effect}`);
    const refused = (command?.decision.reasons ?? []).filter(({ allowed }) => !allowed);
    if (command?.decision.allowed !== true)
      throw new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons: refused.map(({ text }) => text).join('; ') });
  };

  const add = async (effect: AccessRule['effect'], what: string, given: z.output<typeof subject>, actor: Actor) => {
    const guildId = requireGuildId(actor);
    await assertMay(effect, actor);
    const target = await findTarget(services, { actor }, what);
    const added = { effect, target, subject: subjectOf(guildId, given) };
    await accessRules.set(guildId, added);
    const isLock = effect === 'deny' && added.subject.kind === 'everyone' && keepsServerInHand(services, target);
    const said =
      effect === 'allow'
        ? t('Allowed: {rule}.', { rule: ruleText(added) })
        : t('Denied: {rule}.', { rule: ruleText(added) });
    return isLock ? `${said} ${lockWarning(target.name)}` : said;
  };

  page({
    name: 'access',
    title: 'Access',
    description: 'Who may use which command, tool or plugin.',
    about: 'guild',
    group: 'server',
    access: { command: 'access list' },
    async view({ actor }) {
      const guildId = requireGuildId(actor);
      const rules = byPrecedence(await accessRules.list(guildId));
      const names = [EVERYTHING.name, ...commands.names(guildId), ...tools.list().map(({ name }) => name)];
      const [mods, admins] = await Promise.all([tierRoles.list(guildId, 'mod'), tierRoles.list(guildId, 'admin')]);
      return {
        blocks: [
          {
            kind: 'table',
            title: t('Rules, those of higher precedence first'),
            columns: [{ name: '' }, { name: t('What') }, { name: t('For whom') }],
            rows: rules.map(rowOf),
            empty: t('This server has no access rules: what each command asks for decides alone.'),
          },
          {
            kind: 'form',
            act: 'add',
            title: t('Add a rule'),
            text: t(
              'Of several rules that apply, the most specific decides: a member before a role, then a channel, a category, and everyone.',
            ),
            fields: [
              {
                name: 'effect',
                label: t('Effect'),
                control: {
                  kind: 'choice',
                  of: [
                    { value: 'allow', text: t('allow') },
                    { value: 'deny', text: t('deny') },
                  ],
                },
                value: 'allow',
              },
              whatField(names),
              { name: 'user', label: t('Member'), control: { kind: 'user' }, optional: true },
              { name: 'role', label: t('Role'), control: { kind: 'role' }, optional: true },
              {
                name: 'channel',
                label: t('Channel'),
                hint: t('None of the three: everyone.'),
                control: { kind: 'channel' },
                optional: true,
              },
            ],
            submit: t('Add it'),
          },
          {
            kind: 'form',
            act: 'explain',
            title: t('Why is something allowed or refused?'),
            fields: [
              { name: 'user', label: t('Member'), control: { kind: 'user' } },
              whatField(names),
              {
                name: 'channel',
                label: t('Channel'),
                hint: t('Where they would use it; none: the server as a whole.'),
                control: { kind: 'channel' },
                optional: true,
              },
            ],
            submit: t('Explain'),
          },
          rolesForm('admin', t('Roles of admins'), admins),
          rolesForm('mod', t('Roles of moderators'), mods),
        ],
      };
    },
    acts: {
      add: webAct({
        effect: 'changes',
        input: subject.extend({ effect: z.enum(['allow', 'deny']), what: z.string().min(1) }),
        audit: ({ effect, what, user, role, channel }) =>
          `access ${effect} ${what} ${user || role || channel || 'everyone'}`,
        run: ({ effect, what, ...whom }, { actor }) => add(effect, what, whom, actor),
      }),
      clear: webAct({
        effect: 'destroys',
        question: ({ target, subject: whom }) =>
          target === undefined || whom === undefined
            ? t('Remove this rule?')
            : t('Remove the rule: {rule}?', { rule: ruleText({ target, subject: whom }) }),
        input: rule,
        access: { command: 'access clear' },
        audit: ({ target, subject: { kind, id } }) => `access clear ${target.name} ${id ?? kind}`,
        async run(wanted, { actor }) {
          const removed = await accessRules.clear(requireGuildId(actor), (one) => ruleId(one) === ruleId(wanted));
          if (removed.length === 0) throw new UserError(t('There is no such rule here.'));
          return { said: t('Removed: {rule}.', { rule: ruleText(wanted) }), undo: { act: 'restore', input: wanted } };
        },
      }),
      restore: webAct({
        effect: 'changes',
        input: rule,
        audit: ({ effect, target, subject: { kind, id } }) => `access ${effect} ${target.name} ${id ?? kind}`,
        async run(removed, { actor }) {
          await assertMay(removed.effect, actor);
          await accessRules.set(requireGuildId(actor), removed);
          return removed.effect === 'allow'
            ? t('Allowed: {rule}.', { rule: ruleText(removed) })
            : t('Denied: {rule}.', { rule: ruleText(removed) });
        },
      }),
      explain: webAct({
        effect: 'shows',
        input: z.object({ user: z.string().min(1), what: z.string().min(1), channel: z.string().optional() }),
        access: { command: 'access explain' },
        async run({ user, what, channel = '' }, { actor }) {
          const { guildId } = actor;
          // A decision for a channel reveals information about it, so the person must be able to see the channel.
          const isThere = channel !== '' && (await access.mayEnter(actor, { guildId, channelId: channel }));
          const whose: Actor = { ...actor, userId: user, ...(isThere ? { channelId: channel } : {}) };
          const target = await findTarget(services, { actor }, what);
          const decided = await decisionsFor(services, whose, target);
          const blocks = decided.map(
            ({ name, decision }): WebBlock => ({
              kind: 'table',
              title: decision.allowed ? t('{name}: allowed', { name }) : t('{name}: refused', { name }),
              columns: [{ name: '' }, { name: t('Reason') }, { name: t('What helps') }],
              rows: decision.reasons.map(({ rule: id, allowed, text, remedy }) => ({
                id,
                cells: [{ badge: allowed ? t('yes') : t('no'), tone: allowed ? 'good' : 'bad' }, text, remedy ?? null],
              })),
              empty: '',
            }),
          );
          const tier = await access.tierOf(whose);
          return {
            said: t('{member} counts as one of: {tier}.', { member: `<@${user}>`, tier: tierWord(tier) }),
            blocks,
          };
        },
      }),
      roles: webAct({
        effect: 'changes',
        input: z.object({ tier: z.enum(['mod', 'admin']), roles: z.array(z.string()) }),
        access: { command: 'roles admin add' },
        audit: ({ tier, roles }) => `roles ${tier}: ${roles.join(', ') || 'none'}`,
        async run({ tier, roles }, { actor }) {
          const guildId = requireGuildId(actor);
          const present = await tierRoles.list(guildId, tier);
          for (const id of present.filter((one) => !roles.includes(one))) await tierRoles.remove(guildId, tier, id);
          for (const id of roles.filter((one) => !present.includes(one))) await tierRoles.add(guildId, tier, id);
          return t('Saved.');
        },
      }),
    },
  });
}

const whatField = (names: readonly string[]): WebField => ({
  name: 'what',
  label: t('Command, tool or plugin'),
  control: { kind: 'text', suggestions: [...new Set(names)] },
});

const rolesForm = (tier: 'mod' | 'admin', label: string, roles: readonly string[]): WebBlock => ({
  kind: 'form',
  act: 'roles',
  compact: true,
  input: { tier },
  fields: [
    {
      name: 'roles',
      label,
      hint: t('Beside those whom Discord lets manage or moderate the server.'),
      control: { kind: 'role', many: true },
      value: roles,
    },
  ],
  submit: t('Save'),
});

const ruleText = ({ target, subject: whom }: Pick<AccessRule, 'target' | 'subject'>) =>
  `${textOfRuleTarget(target)} ${textOfRuleSubject(whom)}`;

const ruleId = ({ effect, target, subject: whom }: AccessRule) =>
  `${effect} ${target.kind} ${target.name} ${whom.kind} ${whom.id ?? ''}`;

function rowOf(one: AccessRule): WebRow {
  const { effect, target, subject: whom } = one;
  return {
    id: ruleId(one),
    cells: [
      { badge: effect === 'allow' ? t('allow') : t('deny'), tone: effect === 'allow' ? 'good' : 'bad' },
      textOfRuleTarget(target),
      textOfRuleSubject(whom),
    ],
    buttons: [
      {
        act: 'clear',
        label: t('Remove'),
        tone: 'danger',
        input: { effect, target, subject: whom },
      },
    ],
  };
}
