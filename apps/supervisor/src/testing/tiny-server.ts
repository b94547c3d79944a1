// A child for the supervisor's tests: answers with its pid on the port it is given; "stubborn" makes it ignore SIGTERM.
import { createServer } from 'node:http';

const [port, manner] = process.argv.slice(2);
if (manner === 'stubborn') process.on('SIGTERM', () => undefined);
createServer((_request, response) => response.end(String(process.pid))).listen(Number(port), '127.0.0.1');
