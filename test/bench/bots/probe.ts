/** Loaded into the bot's own command line, which knows nothing of the bench, so that the bench can measure it. */
import { answerQuestions } from './protocol.js';

answerQuestions(() => process.kill(process.pid, 'SIGTERM'));
