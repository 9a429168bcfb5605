/** Loaded into Cinnabar's own command line, so that the bench can measure it without changes to the program. */
import { answerQuestions } from './protocol.js';

answerQuestions(() => process.kill(process.pid, 'SIGTERM'));
