import { type Bot, startBotProcess } from '../../bot-process.js';
import type { Orders } from './child.js';

export type { Bot };

export const startBot = (orders: Orders): Bot => startBotProcess(new URL('./child.js', import.meta.url), orders);
