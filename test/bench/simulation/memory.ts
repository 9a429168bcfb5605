import { startLocalDiscord } from '@cinnabar/local-discord';
import { startBot } from '../bot-process.js';

const FEW = 100;
const MANY = 1_100;

/** The memory of a guild in discord.js, in bytes, in a process that does nothing else; a cluster stores no more of it in memory. */
export async function heapOfGuild({ channels, roles }: { readonly channels: number; readonly roles: number }) {
  await using discord = await startLocalDiscord();
  const owner = discord.createUser({ name: 'owner' });
  const few = discord.createApplication({ name: 'few', owner });
  const many = discord.createApplication({ name: 'many', owner });
  for (let index = 0; index < MANY; index++) {
    const guild = discord.createGuild({ name: `Guild ${index}`, owner });
    for (let count = 0; count < channels; count++) guild.createChannel({ name: `a-channel-${count}` });
    for (let count = 0; count < roles; count++) guild.createRole({ name: `A role ${count}` });
    if (index < FEW) guild.invite(few);
    guild.invite(many);
  }
  const heapIn = async (application: typeof few) => {
    const bot = await startBot('raw', discord, application);
    await discord.settled();
    const { heapBytes } = await bot.memory();
    await bot.stop();
    return heapBytes;
  };
  return ((await heapIn(many)) - (await heapIn(few))) / (MANY - FEW);
}
