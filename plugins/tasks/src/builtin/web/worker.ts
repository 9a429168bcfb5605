/** Pages are read in a worker thread. */
export { htmlToText } from './html-text.js';
