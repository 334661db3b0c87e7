// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Stand-ins for the reputation and the validation registry of ERC-8004, by the rules of identity-registry.sol.

/// The identity registry, as far as the other two ask it.
interface Agents {
    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool);
}

/// Both keep the identity registry's address in slot 0, as the deployed ones do; installing sets it.
abstract contract RegistryOfAgents {
    Agents private identity;

    function getIdentityRegistry() public view returns (Agents) {
        return identity;
    }

    function getVersion() external pure returns (string memory) {
        return "2.0.0";
    }

    function sameText(string memory one, string memory other) internal pure returns (bool) {
        return keccak256(bytes(one)) == keccak256(bytes(other));
    }
}

contract ReputationRegistryDouble is RegistryOfAgents {
    struct Feedback {
        int128 value;
        uint8 valueDecimals;
        bool isRevoked;
        string tag1;
        string tag2;
    }

    /// What readAllFeedback answers, column by column.
    struct Columns {
        address[] clients;
        uint64[] indexes;
        int128[] values;
        uint8[] decimals;
        string[] tag1s;
        string[] tag2s;
        bool[] revoked;
    }

    event NewFeedback(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        int128 value,
        uint8 valueDecimals,
        string indexed indexedTag1,
        string tag1,
        string tag2,
        string endpoint,
        string feedbackURI,
        bytes32 feedbackHash
    );
    event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex);
    event ResponseAppended(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        address indexed responder,
        string responseURI,
        bytes32 responseHash
    );

    int128 private constant VALUE_MAX = 1e38;
    uint8 private constant DECIMALS_MAX = 18;

    /// Newest last; an index is the position plus one.
    mapping(uint256 agentId => mapping(address client => Feedback[] given)) private feedbackOf;
    mapping(uint256 agentId => address[] clients) private clientsOf;

    function giveFeedback(
        uint256 agentId,
        int128 value,
        uint8 valueDecimals,
        string calldata tag1,
        string calldata tag2,
        string calldata endpoint,
        string calldata feedbackURI,
        bytes32 feedbackHash
    ) external {
        require(valueDecimals <= DECIMALS_MAX, "too many decimals");
        require(value >= -VALUE_MAX && value <= VALUE_MAX, "value too large");
        require(!getIdentityRegistry().isAuthorizedOrOwner(msg.sender, agentId), "Self-feedback not allowed");
        Feedback[] storage given = feedbackOf[agentId][msg.sender];
        if (given.length == 0) clientsOf[agentId].push(msg.sender);
        given.push(Feedback(value, valueDecimals, false, tag1, tag2));
        uint64 index = uint64(given.length);
        emit NewFeedback(
            agentId, msg.sender, index, value, valueDecimals, tag1, tag1, tag2, endpoint, feedbackURI, feedbackHash
        );
    }

    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
        Feedback storage feedback = feedbackAt(agentId, msg.sender, feedbackIndex);
        require(!feedback.isRevoked, "Already revoked");
        feedback.isRevoked = true;
        emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
    }

    /// Anybody may respond, any number of times, to revoked feedback too.
    function appendResponse(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        string calldata responseURI,
        bytes32 responseHash
    ) external {
        require(bytes(responseURI).length > 0, "Empty URI");
        feedbackAt(agentId, clientAddress, feedbackIndex);
        emit ResponseAppended(agentId, clientAddress, feedbackIndex, msg.sender, responseURI, responseHash);
    }

    function getClients(uint256 agentId) external view returns (address[] memory) {
        return clientsOf[agentId];
    }

    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64) {
        return uint64(feedbackOf[agentId][clientAddress].length);
    }

    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (int128 value, uint8 valueDecimals, string memory tag1, string memory tag2, bool isRevoked)
    {
        Feedback memory feedback = feedbackAt(agentId, clientAddress, feedbackIndex);
        return (feedback.value, feedback.valueDecimals, feedback.tag1, feedback.tag2, feedback.isRevoked);
    }

    /// Without clients, of all of them. Empty tags match any.
    function readAllFeedback(
        uint256 agentId,
        address[] calldata clientAddresses,
        string calldata tag1,
        string calldata tag2,
        bool includeRevoked
    )
        external
        view
        returns (
            address[] memory clients,
            uint64[] memory feedbackIndexes,
            int128[] memory values,
            uint8[] memory valueDecimals,
            string[] memory tag1s,
            string[] memory tag2s,
            bool[] memory revokedStatuses
        )
    {
        address[] memory from = clientAddresses;
        if (from.length == 0) from = clientsOf[agentId];
        Columns memory all = columns(agentId, from, tag1, tag2, includeRevoked);
        return (all.clients, all.indexes, all.values, all.decimals, all.tag1s, all.tag2s, all.revoked);
    }

    /// The mean, truncated toward zero at the decimals that most of the feedback has.
    function getSummary(uint256 agentId, address[] calldata clientAddresses, string calldata tag1, string calldata tag2)
        external
        view
        returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals)
    {
        require(clientAddresses.length > 0, "clientAddresses required");
        Columns memory all = columns(agentId, clientAddresses, tag1, tag2, false);
        count = uint64(all.values.length);
        if (count == 0) return (0, 0, 0);
        int256 sum = 0;
        uint64[19] memory uses;
        for (uint256 i = 0; i < count; i++) {
            sum += int256(all.values[i]) * int256(10 ** uint256(DECIMALS_MAX - all.decimals[i]));
            uses[all.decimals[i]] += 1;
        }
        for (uint8 d = 1; d <= DECIMALS_MAX; d++) if (uses[d] > uses[summaryValueDecimals]) summaryValueDecimals = d;
        int256 mean = sum / int256(uint256(count));
        summaryValue = int128(mean / int256(10 ** uint256(DECIMALS_MAX - summaryValueDecimals)));
    }

    function feedbackAt(uint256 agentId, address client, uint64 index) private view returns (Feedback storage) {
        require(index > 0, "index must be > 0");
        require(index <= feedbackOf[agentId][client].length, "index out of bounds");
        return feedbackOf[agentId][client][index - 1];
    }

    function columns(uint256 agentId, address[] memory from, string memory tag1, string memory tag2, bool includeRevoked)
        private
        view
        returns (Columns memory all)
    {
        // Once to count, once to fill: memory arrays cannot grow.
        for (uint256 pass = 0; pass < 2; pass++) {
            uint256 at = 0;
            for (uint256 c = 0; c < from.length; c++) {
                Feedback[] storage given = feedbackOf[agentId][from[c]];
                for (uint256 i = 0; i < given.length; i++) {
                    if (!matches(given[i], tag1, tag2, includeRevoked)) continue;
                    if (pass == 1) fill(all, at, from[c], uint64(i + 1), given[i]);
                    at += 1;
                }
            }
            if (pass == 0) all = emptyColumns(at);
        }
    }

    function matches(Feedback storage feedback, string memory tag1, string memory tag2, bool includeRevoked)
        private
        view
        returns (bool)
    {
        if (feedback.isRevoked && !includeRevoked) return false;
        if (bytes(tag1).length > 0 && !sameText(tag1, feedback.tag1)) return false;
        return bytes(tag2).length == 0 || sameText(tag2, feedback.tag2);
    }

    function fill(Columns memory all, uint256 at, address client, uint64 index, Feedback storage feedback) private view {
        all.clients[at] = client;
        all.indexes[at] = index;
        all.values[at] = feedback.value;
        all.decimals[at] = feedback.valueDecimals;
        all.tag1s[at] = feedback.tag1;
        all.tag2s[at] = feedback.tag2;
        all.revoked[at] = feedback.isRevoked;
    }

    function emptyColumns(uint256 rows) private pure returns (Columns memory) {
        return Columns(
            new address[](rows),
            new uint64[](rows),
            new int128[](rows),
            new uint8[](rows),
            new string[](rows),
            new string[](rows),
            new bool[](rows)
        );
    }
}

contract ValidationRegistryDouble is RegistryOfAgents {
    struct Status {
        address validator;
        uint256 agentId;
        uint8 response;
        bytes32 responseHash;
        string tag;
        uint256 lastUpdate;
        bool responded;
    }

    event ValidationRequest(
        address indexed validatorAddress, uint256 indexed agentId, string requestURI, bytes32 indexed requestHash
    );
    event ValidationResponse(
        address indexed validatorAddress,
        uint256 indexed agentId,
        bytes32 indexed requestHash,
        uint8 response,
        string responseURI,
        bytes32 responseHash,
        string tag
    );

    uint8 private constant RESPONSE_MAX = 100;

    mapping(bytes32 requestHash => Status status) private statusOf;
    mapping(uint256 agentId => bytes32[] requests) private requestsOf;

    function validationRequest(address validatorAddress, uint256 agentId, string calldata requestURI, bytes32 requestHash)
        external
    {
        require(validatorAddress != address(0), "bad validator");
        require(statusOf[requestHash].validator == address(0), "exists");
        require(getIdentityRegistry().isAuthorizedOrOwner(msg.sender, agentId), "Not authorized");
        statusOf[requestHash] = Status(validatorAddress, agentId, 0, bytes32(0), "", block.timestamp, false);
        requestsOf[agentId].push(requestHash);
        emit ValidationRequest(validatorAddress, agentId, requestURI, requestHash);
    }

    /// The validator that was asked may answer again; the newest answer counts.
    function validationResponse(
        bytes32 requestHash,
        uint8 response,
        string calldata responseURI,
        bytes32 responseHash,
        string calldata tag
    ) external {
        Status storage status = statusOf[requestHash];
        require(status.validator != address(0), "unknown");
        require(msg.sender == status.validator, "not validator");
        require(response <= RESPONSE_MAX, "resp>100");
        status.response = response;
        status.responseHash = responseHash;
        status.tag = tag;
        status.lastUpdate = block.timestamp;
        status.responded = true;
        emit ValidationResponse(msg.sender, status.agentId, requestHash, response, responseURI, responseHash, tag);
    }

    function getValidationStatus(bytes32 requestHash)
        external
        view
        returns (
            address validatorAddress,
            uint256 agentId,
            uint8 response,
            bytes32 responseHash,
            string memory tag,
            uint256 lastUpdate
        )
    {
        Status memory status = statusOf[requestHash];
        require(status.validator != address(0), "unknown");
        return (
            status.validator, status.agentId, status.response, status.responseHash, status.tag, status.lastUpdate
        );
    }

    function getAgentValidations(uint256 agentId) external view returns (bytes32[] memory) {
        return requestsOf[agentId];
    }
}
