import {
  type CommandContext,
  option,
  type Subgroup,
  sentenceOf,
  subcommand,
  subgroup,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import { cancelForbidden, directIdentity } from '../agents/permissions.js';
import { homeOf } from '../agents/roster.js';
import type { Relay } from '../context.js';
import { switchedOff, switchedOn } from '../intake/respond.js';
import { rulesIn } from '../settings.js';
import { AGENT_ID } from './agents.js';
import { changeSetting, RESET } from './config.js';
import { report } from './setup.js';

const NO_AGENT = 'none';
/** The settings that a user may change for their own direct messages. */
const OWN_KEYS = ['agent_timeout', 'whenSilent', 'enable_typing_indicator', 'reply_thread_depth'] as const;

/** The commands `!relay dm`: a user's consent to an agent in direct messages, and, for the owner, which agent that is. */
export function directCommands(relay: Relay): Subgroup {
  const { settings, dmAgents, identities, endpoint } = relay;
  return subgroup({
    name: 'dm',
    description: 'An agent in direct messages',
    commands: [
      subcommand({
        name: 'on',
        description: 'Let an agent read and answer what you write to the bot in direct messages',
        ephemeral: true,
        async run(ctx) {
          await settings.user(ctx.user.id).set({ dm: 'on' });
          const there = (await dmAgents.agentOf(ctx.user.id)) !== undefined;
          return ctx.reply(
            there
              ? switchedOn()
              : `${switchedOn()} ${t('There is no agent for it yet: the owner of the bot chooses one.')}`,
          );
        },
      }),
      subcommand({
        name: 'off',
        description: 'Let no agent read your direct messages',
        ephemeral: true,
        async run(ctx) {
          await settings.user(ctx.user.id).set({ dm: 'off' });
          await cancelForbidden(null, relay);
          return ctx.reply(switchedOff());
        },
      }),
      subcommand({
        name: 'config',
        description: 'See and change how an agent answers your direct messages',
        help: `Without a value it shows the settings. The value \`${RESET}\` undoes a change.`,
        ephemeral: true,
        options: {
          key: z.enum(OWN_KEYS).optional().describe('Which setting'),
          value: option.rest().optional().describe(`The new value, or \`${RESET}\``),
        },
        examples: ['relay dm config', 'relay dm config agent_timeout 30', 'relay dm config whenSilent post'],
        async run(ctx, { key, value }) {
          if (key !== undefined && value !== undefined) await changeOwn(relay, ctx, key, value);
          const rules = await rulesIn(settings, null, ctx.user.id);
          const shown = key === undefined ? OWN_KEYS : [key];
          const lines = shown.map((one) => `• \`${one}\` = \`${String(rules[one])}\``);
          const isBounded =
            key !== undefined && value !== undefined && value.trim() !== RESET && String(rules[key]) !== value.trim();
          return ctx.reply(
            [...lines, ...(isBounded ? [t('The owner of the bot sets the bounds of this.')] : [])].join('\n'),
          );
        },
      }),
      subcommand({
        name: 'agent',
        description: 'Choose the agent that answers direct messages: everybody’s, or those of one person',
        access: { tier: 'botOwner' },
        ephemeral: true,
        options: {
          id: z
            .string()
            .regex(AGENT_ID, 'expected the id of an agent, such as agent-1234')
            .describe(`Its id at the Letta server; \`${NO_AGENT}\` for no agent`),
          user: option.user().optional().describe('Only for this person'),
        },
        async run(ctx, { id, user }) {
          const agentId = id === NO_AGENT ? undefined : id;
          if (agentId !== undefined) {
            const home = await homeOf(agentId, relay, undefined);
            if (home !== undefined)
              throw new UserError(`${home} ${t('An agent lives in one place: make another one for direct messages.')}`);
          }
          await endpoint?.revoke(directIdentity(user?.id));
          await identities.remove(directIdentity(user?.id));
          if (user !== undefined) await dmAgents.assign(user.id, agentId);
          else if (agentId === undefined) await settings.global.reset('dmAgent');
          else await settings.global.set({ dmAgent: agentId });
          await cancelForbidden(null, relay);
          const whom = { of: user === undefined ? 'all' : 'one', user: String(user) };
          return ctx.reply(
            agentId === undefined
              ? t(
                  'No agent answers {of, select, all {direct messages} other {the direct messages of {user}}} any more.',
                  whom,
                )
              : t(
                  '`{agentId}` answers {of, select, all {direct messages} other {the direct messages of {user}}} of those who want it. Next: `relay dm setup` in a direct message with me.',
                  { agentId, ...whom },
                ),
          );
        },
      }),
      subcommand({
        name: 'setup',
        description: 'Give the agent of direct messages its tools, and try whether it can post here',
        access: { tier: 'botOwner', where: 'dm' },
        options: { user: option.user().optional().describe('For the own agent of this person') },
        async run(ctx, { user }) {
          if ((await settings.user(ctx.user.id).get()).dm !== 'on') {
            throw new UserError(
              t('Say `relay dm on` first: an agent acts in the direct messages of those who want it.'),
            );
          }
          const agent = await dmAgents.agentOf(user?.id ?? ctx.user.id);
          if (agent === undefined) throw new UserError(t('No agent has been chosen yet: `relay dm agent <id>`.'));
          const place = { ...agent, guildId: null, userId: ctx.user.id, name: 'agent' };
          return report(relay, ctx, place);
        },
      }),
    ],
  });
}

/** Changes a user's own setting under the name of the general one, which is the name that users know. */
async function changeOwn(relay: Relay, ctx: CommandContext, key: string, value: string): Promise<void> {
  await changeSetting(relay, ctx, `own_${key}`, value).catch((error: unknown) => {
    const sentence = sentenceOf(error);
    if (sentence === undefined) throw error;
    throw new UserError(sentence.replaceAll(`own_${key}`, key), { cause: error });
  });
}
