#!/bin/sh
# Delivers a message as Claude Code does, and says what it was resumed with.
case "$*" in *--resume*) echo "resumed: $*"; exec sleep 1000 ;; esac
IFS= read -r line
mark=${line#*'`BEGIN '}; mark=${mark%%'`'*}
text=${line#*"\\nBEGIN $mark\\n"}; text=${text%%"\\nEND $mark"*}
to=${line#*'set to \"'}; to=${to%%'\"'*}
printf '%s\n' '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"SendMessage","input":{"to":"'"$to"'","message":"'"$text"'","type":"message"}}]}}'
printf '%s\n' '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"-"}]},"tool_use_result":{"success":true,"message":"sent","msg_id":"m-1"}}'
printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"SENT"}'
cat >/dev/null
