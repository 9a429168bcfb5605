import {
  type AccessRule,
  type CommandContext,
  EVERYTHING,
  option,
  requireGuildId,
  subcommand,
  t,
  textOfRuleSubject,
  UserError,
} from '@cinnabar/sdk';
import { ChannelType } from 'discord.js';
import { findSubject } from './access-commands.js';
import type { AdminContext } from './context.js';

type Subject = AccessRule['subject'];
type Effect = AccessRule['effect'];

const ADMIN = { tier: 'admin', where: 'guild' } as const;
const EVERYONE: Subject = { kind: 'everyone' };
const PEOPLE: ReadonlySet<Subject['kind']> = new Set(['user', 'role']);
const PLACES: ReadonlySet<Subject['kind']> = new Set(['channel', 'category', 'everyone']);

const same = (one: Subject, other: Subject) => one.kind === other.kind && one.id === other.id;
/** Selects rules about everything by effect and subject. */
const of =
  (effect: Effect, isOne: (subject: Subject) => boolean) =>
  (rule: AccessRule): boolean =>
    rule.target.kind === EVERYTHING.kind && rule.effect === effect && isOne(rule.subject);
const isPerson = ({ kind }: Subject) => PEOPLE.has(kind);

/**
 * `!ignore`, `!block` and `!allowlist`: places and members that the bot ignores in a server. They are access rules about everything: `!access list` shows them,
 * too.
 */
export function registerIgnoreCommands(context: AdminContext): void {
  registerIgnore(context);
  registerBlock(context);
  registerAllowlist(context);
}

/** `list`: the subjects of the selected rules about everything. */
function listCommand(
  { services: { accessRules } }: AdminContext,
  description: string,
  isListed: (rule: AccessRule) => boolean,
  texts: { readonly heading: () => string; readonly none: (rules: readonly AccessRule[]) => string },
) {
  return subcommand({
    name: 'list',
    description,
    reads: true,
    async run(ctx) {
      const all = await accessRules.list(requireGuildId(ctx.actor));
      const lines = all.filter(isListed).map(({ subject }) => `• ${textOfRuleSubject(subject)}`);
      await ctx.reply(lines.length === 0 ? texts.none(all) : [texts.heading(), ...lines].join('\n'));
    },
  });
}

/** @returns whether everything was denied to the subject */
async function takeBack({ services }: AdminContext, ctx: CommandContext, subject: Subject): Promise<boolean> {
  const matches = of('deny', (one) => same(one, subject));
  return (await services.accessRules.clear(requireGuildId(ctx.actor), matches)).length > 0;
}

const deny = ({ services }: AdminContext, ctx: CommandContext, subject: Subject) =>
  services.accessRules.set(requireGuildId(ctx.actor), { effect: 'deny', target: EVERYTHING, subject });

const noSuchRule = () => t('There is no such rule here.');

function registerIgnore(context: AdminContext): void {
  const channel = option.channel().optional().describe('The channel; without one, this channel');
  const place = option.rest().optional().describe('A channel, a category, or server; without one, this channel');
  const ignore = async (ctx: CommandContext, subject: Subject) => {
    await deny(context, ctx, subject);
    await ctx.reply(
      subject.kind === 'everyone'
        ? t('I ignore everything in this server now. Admins can still use the commands that control me.')
        : t('I ignore everything {subject} now. Admins can still use the commands that control me.', {
            subject: textOfRuleSubject(subject),
          }),
    );
  };
  const placeOf = async (ctx: CommandContext, typed: string | undefined): Promise<Subject> => {
    if (typed === undefined) return { kind: 'channel', id: ctx.channel.id };
    return /^(?:the )?server$/i.test(typed.trim()) ? EVERYONE : findSubject(ctx, typed);
  };

  context.group({
    name: 'ignore',
    description: 'Channels and categories that the bot ignores',
    access: ADMIN,
    help: 'No command, mention, reply, reaction or button does anything there, and nothing says so. The commands of this plugin still work for admins.',
    commands: [
      subcommand({
        name: 'channel',
        description: 'Ignore what is said in a channel',
        options: { channel },
        run: (ctx, { channel: chosen }) => ignore(ctx, { kind: 'channel', id: (chosen ?? ctx.channel).id }),
      }),
      subcommand({
        name: 'category',
        description: 'Ignore what is said in the channels of a category',
        options: { category: option.channel([ChannelType.GuildCategory]).describe('The category') },
        run: (ctx, { category: { id } }) => ignore(ctx, { kind: 'category', id }),
      }),
      subcommand({
        name: 'server',
        description: 'Ignore this server, except for members and channels that a rule allows',
        run: (ctx) => ignore(ctx, EVERYONE),
      }),
      subcommand({
        name: 'remove',
        description: 'Stop ignoring a channel, a category or the server',
        options: { place },
        examples: ['ignore remove #general', 'ignore remove server'],
        async run(ctx, { place: typed }) {
          const subject = await placeOf(ctx, typed);
          const was = await takeBack(context, ctx, subject);
          await ctx.reply(was ? t('I listen again {subject}.', { subject: textOfRuleSubject(subject) }) : noSuchRule());
        },
      }),
      listCommand(
        context,
        'List what the bot ignores',
        of('deny', ({ kind }) => PLACES.has(kind)),
        { heading: () => t('**I ignore everything**'), none: () => t('I ignore no channel here.') },
      ),
    ],
  });
}

const who = () => option.rest().describe('A member, by mention or id, or a role');

async function person(ctx: CommandContext, text: string): Promise<Subject> {
  const subject = await findSubject(ctx, text);
  if (isPerson(subject)) return subject;
  throw new UserError(t('Please name a member or a role. Channels are ignored with `ignore channel`.'));
}

/** @throws UserError for members to whom everything must not be denied */
function assertBlockable({ guild, member, actor }: CommandContext, { kind, id }: Subject): void {
  const isOwner = actor.userId === guild?.ownerId;
  if (kind === 'role' && id !== undefined && !isOwner && member?.roles.cache.has(id) === true)
    throw new UserError(t('You have that role yourself, and would be blocked, too.'));
  if (kind !== 'user') return;
  if (id === actor.userId) throw new UserError(t('You cannot block yourself.'));
  if (id === guild?.ownerId) throw new UserError(t('The owner of the server cannot be blocked.'));
}

function registerBlock(context: AdminContext): void {
  context.group({
    name: 'block',
    aliases: ['blocklist'],
    description: 'Members and roles that the bot ignores in this server',
    access: ADMIN,
    help: 'They get no answer: not to commands, mentions, replies, reactions or buttons, by no tool, task or agent of theirs, and they decide no confirmation.',
    commands: [
      subcommand({
        name: 'add',
        description: 'Ignore a member or the members of a role',
        options: { who: who() },
        async run(ctx, { who: typed }) {
          const subject = await person(ctx, typed);
          assertBlockable(ctx, subject);
          await deny(context, ctx, subject);
          await ctx.reply(t('Blocked: everything {subject}.', { subject: textOfRuleSubject(subject) }));
        },
      }),
      subcommand({
        name: 'remove',
        description: 'Stop ignoring a member or role',
        options: { who: who() },
        async run(ctx, { who: typed }) {
          const subject = await person(ctx, typed);
          const was = await takeBack(context, ctx, subject);
          await ctx.reply(
            was
              ? t('Not blocked any more: everything {subject}.', { subject: textOfRuleSubject(subject) })
              : noSuchRule(),
          );
        },
      }),
      listCommand(context, 'List the members and roles that are blocked here', of('deny', isPerson), {
        heading: () => t('**Blocked here**'),
        none: () => t('Nobody is blocked here.'),
      }),
    ],
  });
}

const isListed = of('allow', isPerson);
/** Denies everything to everyone: with an allowlist, all others are ignored. */
const isRest = of('deny', ({ kind }) => kind === EVERYONE.kind);

function registerAllowlist(context: AdminContext): void {
  const { accessRules } = context.services;

  context.group({
    name: 'allowlist',
    description: 'Let only some members and roles use the bot in this server',
    access: ADMIN,
    help: 'With the first entry, the bot ignores everyone else here; when the last one is removed, it ignores no one. Admins can always use the commands of this plugin.',
    commands: [
      subcommand({
        name: 'add',
        description: 'Let a member or role use the bot, and ignore everyone who is not on the list',
        options: { who: who() },
        async run(ctx, { who: typed }) {
          const subject = await person(ctx, typed);
          await accessRules.update(requireGuildId(ctx.actor), (rules) => [
            ...rules,
            { effect: 'deny', target: EVERYTHING, subject: EVERYONE },
            { effect: 'allow', target: EVERYTHING, subject },
          ]);
          const added = textOfRuleSubject(subject);
          await ctx.reply(
            t('On the list: everything {subject}. I ignore everyone here who is not on it.', { subject: added }),
          );
        },
      }),
      subcommand({
        name: 'remove',
        description: 'Take a member or role off the list',
        options: { who: who() },
        async run(ctx, { who: typed }) {
          const subject = await person(ctx, typed);
          let [was, isLast] = [false, false];
          // In one atomic step, since another admin may change the rules at the same time.
          await accessRules.update(requireGuildId(ctx.actor), (rules) => {
            const rest = rules.filter((rule) => !(isListed(rule) && same(rule.subject, subject)));
            was = rest.length < rules.length;
            isLast = !rest.some(isListed);
            if (!was) return rules;
            return isLast ? rest.filter((rule) => !isRest(rule)) : rest;
          });
          if (!was) return ctx.reply(noSuchRule());
          return ctx.reply(
            isLast
              ? t('The list is empty: everyone can use me here again.')
              : t('Off the list: everything {subject}.', { subject: textOfRuleSubject(subject) }),
          );
        },
      }),
      listCommand(context, 'List who may use the bot here', isListed, {
        heading: () => t('**On the list**'),
        // Also after the last entry was removed with the data of its member.
        none: (rules) =>
          rules.some(isRest)
            ? t('No one is on the list, and I ignore everyone here: `ignore remove server` ends that.')
            : t('There is no list: everyone can use me here.'),
      }),
    ],
  });
}
